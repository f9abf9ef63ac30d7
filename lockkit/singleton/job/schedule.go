package job

import (
	"regexp"
	"strings"
	"time"
)

var (
	rate = regexp.MustCompile(`^rate\([1-9][0-9]* (minute|minutes|hour|hours|day|days)\)$`)
	cron = regexp.MustCompile(`^cron\(([^()]*)\)$`)
	once = regexp.MustCompile(`^at\(([^()]*)\)$`)
	// One of the six fields of cron(): numbers, names, and the signs * ? , - / L W #.
	cronField = regexp.MustCompile(`^[0-9A-Za-z*?,/#-]+$`)
	zone      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)
)

const wantSchedule = "write rate(5 minutes), cron(0 2 * * ? *) with its six fields (minute, hour, day of month, month, day of week, year), or at(2026-12-01T02:00:00)"

// checkSchedule checks the form that a slip of the hand breaks. Whether every
// value is one that EventBridge knows is the service's to say: the zone data
// that could tell is not in a Lambda's file system.
func (s Spec) checkSchedule(fault report) {
	if s.TimeZone != "" && (!zone.MatchString(s.TimeZone) || s.TimeZone == "Local") {
		fault("TimeZone is %s: use the IANA name, such as Europe/Berlin, or leave it empty for UTC", label(s.TimeZone))
	}
	if s.Schedule == "" {
		return
	}
	wrong := func(why string) { fault("Schedule is %s: %s; %s", label(s.Schedule), why, wantSchedule) }
	if m := cron.FindStringSubmatch(s.Schedule); m != nil {
		fields := strings.Fields(m[1])
		if len(fields) != 6 {
			wrong("cron has " + count(len(fields)) + " and EventBridge's has six")
			return
		}
		for _, f := range fields {
			if !cronField.MatchString(f) {
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
	if m := once.FindStringSubmatch(s.Schedule); m != nil {
		if _, err := time.Parse("2006-01-02T15:04:05", m[1]); err != nil {
			wrong("at takes a time without a zone (that is in TimeZone)")
		}
		return
	}
	if !rate.MatchString(s.Schedule) {
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
