package job

import (
	"slices"
	"strings"
	"time"
)

const wantSchedule = "write rate(5 minutes), cron(0 2 * * ? *) with its six fields (minute, hour, day of month, month, day of week, year), or at(2026-12-01T02:00:00)"

// checkSchedule checks the form that a slip of the hand breaks. Whether every
// value is one that EventBridge knows is the service's to say: the zone data
// that could tell is not in a Lambda's file system.
func (s Spec) checkSchedule(fault report) {
	if s.TimeZone != "" && (!isZone(s.TimeZone) || s.TimeZone == "Local") {
		fault("TimeZone is %s: use the IANA name, such as Europe/Berlin, or leave it empty for UTC", label(s.TimeZone))
	}
	if s.Schedule == "" {
		return
	}
	wrong := func(why string) { fault("Schedule is %s: %s; %s", label(s.Schedule), why, wantSchedule) }
	if inner, is := inside("cron", s.Schedule); is {
		fields := strings.Fields(inner)
		if len(fields) != 6 {
			wrong("cron has " + count(len(fields)) + " and EventBridge's has six")
			return
		}
		for _, f := range fields {
			if !made(f, "*?,/#-") {
				wrong("the field " + label(f) + " has a character that EventBridge does not know")
				return
			}
		}
		// EventBridge cannot take a day of the month and a day of the week at once.
		if (fields[2] == "?") == (fields[4] == "?") {
			wrong("exactly one of day of month and day of week must be \"?\"")
		}
		return
	}
	if inner, is := inside("at", s.Schedule); is {
		if _, err := time.Parse("2006-01-02T15:04:05", inner); err != nil {
			wrong("at takes a time without a zone (that is in TimeZone)")
		}
		return
	}
	if !isRate(s.Schedule) {
		wrong("EventBridge does not read it")
	}
}

func count(n int) string {
	switch n {
	case 0:
		return "no field"
	case 1:
		return "one field"
	case 5:
		return "five fields, as on Unix,"
	default:
		return "another number of fields"
	}
}

// The forms below are no regular expressions: each cold start of a function
// would wait for them to be compiled.

// inside is what a schedule of a kind has between its parentheses.
func inside(kind, schedule string) (string, bool) {
	inner, begins := strings.CutPrefix(schedule, kind+"(")
	inner, ends := strings.CutSuffix(inner, ")")
	return inner, begins && ends && !strings.ContainsAny(inner, "()")
}

func isRate(schedule string) bool {
	inner, is := inside("rate", schedule)
	number, unit, _ := strings.Cut(inner, " ")
	return is && number != "" && number[0] != '0' && strings.Trim(number, "0123456789") == "" &&
		slices.Contains([]string{"minute", "minutes", "hour", "hours", "day", "days"}, unit)
}

// isZone reports whether s has the form of an IANA name.
func isZone(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if !made(part, "_+-") {
			return false
		}
	}
	return letter(s[0])
}

// made reports whether s has at least one character, and only letters, digits
// and these others.
func made(s, others string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return s != ""
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
