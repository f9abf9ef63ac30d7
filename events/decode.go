package events

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The forms an input may have, for the errors.
const (
	wantForms    = `what EventBridge Scheduler sends for the input ` + ScheduleInput + `, an EventBridge rule's "Scheduled Event", or a manual {}, {"tick": "2026-12-01T02:00:00Z"} or {"tick": "2026-12-01T02:00:00Z", "force": true}`
	fixForms     = `set the schedule's input to the one above, or invoke by hand with {}`
	fixSchedule  = `set the schedule's input to ` + ScheduleInput
	wantTime     = `a time in RFC 3339 with its zone, such as "2026-12-01T02:00:00Z"`
	fixTime      = `write it as a string in UTC, such as "2026-12-01T02:00:00Z"`
	wantSchedule = "the three fields tick, execution_id and attempt, as EventBridge Scheduler fills them in"
)

// keyword finds what EventBridge Scheduler should have replaced, plain or with
// "<" escaped the way JSON encoders do, which is what keeps it from doing so. It
// is -1 where there is none. As a regular expression it would be compiled in each
// cold start.
func keyword(text []byte) int {
	for rest := 0; ; {
		at := bytes.Index(text[rest:], []byte("aws.scheduler"))
		if at < 0 {
			return -1
		}
		before := text[:rest+at]
		for _, open := range []string{"<", `\u003c`, `\u003C`} {
			if bytes.HasSuffix(before, []byte(open)) {
				return len(before) - len(open)
			}
		}
		rest += at + 1
	}
}

// strict refuses what package time takes for RFC 3339 as well: one digit for the
// hour, and a decimal comma.
func strict(parsed string) bool {
	const hours = len("2026-12-01T02")
	return parsed[hours] == ':' && !strings.Contains(parsed, ",")
}

type fields = map[string]json.RawMessage

// Decode reads the tick from the input of an invocation. The time is judged by
// now, which must come from the caller's clock: a tick more than [MaxAhead]
// after it is refused. Every error is an [InputError]. Decode keeps no part of
// input.
func Decode(input []byte, now time.Time) (Tick, error) {
	f, err := object(input)
	if err != nil {
		return Tick{}, err
	}
	if has(f, "detail-type") || has(f, "source") {
		return decodeRule(f, now)
	}
	if err := checkFilled(input); err != nil {
		return Tick{}, err
	}
	if has(f, "execution_id") || has(f, "attempt") {
		return decodeSchedule(f, now)
	}
	return decodeManual(f, now)
}

// checkFilled refuses text in which EventBridge Scheduler should have put a
// value and did not.
func checkFilled(text []byte) error {
	at := keyword(text)
	if at < 0 {
		return nil
	}
	return &InputError{
		Got:  "the input still has the keyword " + quote(word(string(text[at:]))),
		Want: "the value that EventBridge Scheduler puts in its place",
		Fix:  "check the keyword's spelling and that \"<\" is not written as an escape; outside a schedule, send " + `{} or {"tick": "2026-12-01T02:00:00Z"}`,
	}
}

// space is all that JSON counts as white space; package strings knows more.
const space = " \t\r\n"

// object splits the input into its fields. A map and not a struct: it tells
// "absent" from "null", and its keys are exact.
func object(input []byte) (fields, error) {
	text := strings.Trim(string(input), space)
	bad := &InputError{Want: "a JSON object: " + wantForms, Fix: fixForms}
	if text == "" {
		bad.Got = "the input is empty"
		return nil, bad
	}
	var f fields
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		if !json.Valid([]byte(text)) {
			bad.Got = "the input is not JSON (" + err.Error() + "): " + quote(text)
			return nil, bad
		}
		bad.Got = "the input is " + show([]byte(text))
		if numeric(text[0]) {
			bad.Fix = "a number could be seconds or milliseconds: send " + `{"tick": "2026-12-01T02:00:00Z"}`
		}
		return nil, bad
	}
	if f == nil {
		bad.Got = "the input is null"
		return nil, bad
	}
	if name, twice := repeated([]byte(text)); twice {
		return nil, &InputError{Got: "the field " + quote(name) + " is there more than once", Want: "each field once, because readers differ in which one they take", Fix: "leave one of them"}
	}
	return f, nil
}

// repeated returns the first name that a JSON object has more than once, however
// it is escaped. Package json takes the last one and says nothing. Objects within
// it are not looked at, because nothing is read from them.
func repeated(object []byte) (name string, twice bool) {
	dec := json.NewDecoder(bytes.NewReader(object))
	seen := map[string]bool{}
	if _, err := dec.Token(); err != nil { // the brace
		return "", false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", false
		}
		name, _ := key.(string)
		if seen[name] {
			return name, true
		}
		seen[name] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return "", false
		}
	}
	return "", false
}

func decodeSchedule(f fields, now time.Time) (Tick, error) {
	if err := only(f, "tick", "execution_id", "attempt"); err != nil {
		return Tick{}, err
	}
	for _, name := range []string{"tick", "execution_id", "attempt"} {
		if !has(f, name) {
			return Tick{}, &InputError{Got: "the field " + name + " is missing beside " + names(f), Want: wantSchedule, Fix: fixSchedule}
		}
	}
	at, err := decodeTime(f, "tick", now)
	if err != nil {
		return Tick{}, err
	}
	id, err := decodeID(f, "execution_id")
	if err != nil {
		return Tick{}, err
	}
	attempt, ok := text(f["attempt"])
	n, err := strconv.Atoi(attempt)
	if !ok || err != nil || n < 1 || attempt != strconv.Itoa(n) {
		return Tick{}, &InputError{Got: "attempt is " + show(f["attempt"]), Want: `a whole number from 1 in a string, such as "1"`, Fix: fixSchedule}
	}
	return Tick{Time: at, Source: KindSchedule, ID: id, Attempt: n}, nil
}

// decodeRule reads an EventBridge envelope. Fields that it does not know are
// the service's to add, with whatever text in them.
func decodeRule(f fields, now time.Time) (Tick, error) {
	source, _ := text(f["source"])
	kind, _ := text(f["detail-type"])
	if source != "aws.events" || kind != "Scheduled Event" {
		bad := &InputError{
			Got:  "an EventBridge event with source " + shown(f, "source") + " and detail-type " + shown(f, "detail-type"),
			Want: `source "aws.events" and detail-type "Scheduled Event", which a rule with a schedule expression sends`,
			Fix:  "take this function off the rule that sent it: other events have no due time",
		}
		if source == "aws.scheduler" {
			bad.Fix = "the schedule has no input: " + fixSchedule
		}
		return Tick{}, bad
	}
	for _, name := range []string{"time", "id"} {
		if err := checkFilled(f[name]); err != nil {
			return Tick{}, err
		}
	}
	at, err := decodeTime(f, "time", now)
	if err != nil {
		return Tick{}, err
	}
	id, err := decodeID(f, "id")
	if err != nil {
		return Tick{}, err
	}
	return Tick{Time: at, Source: KindRule, ID: id}, nil
}

func decodeManual(f fields, now time.Time) (Tick, error) {
	if err := only(f, "tick", "force"); err != nil {
		return Tick{}, err
	}
	t := Tick{Source: KindManual}
	if raw, ok := f["force"]; ok {
		switch string(raw) {
		case "true":
			t.Force = true
		case "false":
		default:
			return Tick{}, &InputError{Got: "force is " + show(raw), Want: "true or false", Fix: "write it without quotes"}
		}
	}
	if has(f, "tick") {
		at, err := decodeTime(f, "tick", now)
		if err != nil {
			return Tick{}, err
		}
		t.Time = at
	}
	if err := t.Check(now); err != nil {
		return Tick{}, err
	}
	return t, nil
}

func decodeTime(f fields, name string, now time.Time) (time.Time, error) {
	bad := &InputError{Got: name + " is " + shown(f, name), Want: wantTime, Fix: fixTime}
	s, ok := text(f[name])
	if !ok {
		if raw := f[name]; len(raw) > 0 && numeric(raw[0]) {
			bad.Fix = "a number could be seconds or milliseconds: " + fixTime
		}
		return time.Time{}, bad
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil || !strict(s) {
		return time.Time{}, bad
	}
	at = at.UTC()
	if err := checkTime(name, at, now); err != nil {
		return time.Time{}, err
	}
	return at, nil
}

func decodeID(f fields, name string) (string, error) {
	s, ok := text(f[name])
	if !ok || s == "" || len(s) > maxID {
		return "", &InputError{Got: name + " is " + shown(f, name), Want: "a string of 1 to " + strconv.Itoa(maxID) + " bytes", Fix: "send the event as the service made it"}
	}
	return s, nil
}

// only refuses fields that a form does not have: a misspelt "force" or a tick
// under another name must not be passed over.
func only(f fields, known ...string) error {
	unknown := fields{}
	for name := range f {
		if !slices.Contains(known, name) {
			unknown[name] = nil
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	bad := &InputError{Got: "unknown fields " + names(unknown), Want: wantForms, Fix: fixForms}
	switch {
	case has(f, "requestContext"), has(f, "httpMethod"), has(f, "rawPath"):
		bad.Got = "an HTTP request (fields " + names(f) + ")"
		bad.Fix = "take this function off the API or the function URL; to start a run by hand, invoke it with {}"
	case has(f, "Records"):
		bad.Got = "a batch of records (fields " + names(f) + "), as S3, SNS, SQS and streams send them"
		bad.Fix = "take this function off that source: records have no due time"
	}
	return bad
}

func numeric(c byte) bool { return c == '-' || c >= '0' && c <= '9' }

func has(f fields, name string) bool { _, ok := f[name]; return ok }

func shown(f fields, name string) string {
	if !has(f, name) {
		return "missing"
	}
	return show(f[name])
}

// names lists field names in order, a few of them.
func names(f fields) string {
	all := slices.Sorted(maps.Keys(f))
	const most = 6
	out := make([]string, 0, most+1)
	for i, name := range all {
		if i == most {
			out = append(out, "and "+strconv.Itoa(len(all)-most)+" more")
			break
		}
		out = append(out, quote(name))
	}
	return strings.Join(out, ", ")
}

func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// word is the keyword that begins s.
func word(s string) string {
	if end := strings.IndexAny(s, `>" `); end >= 0 {
		return s[:end+1]
	}
	return s
}
