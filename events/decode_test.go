package events_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/solotick/solotick/events"
)

var (
	due = time.Date(2026, 12, 1, 2, 0, 0, 0, time.UTC)
	now = due.Add(3 * time.Second)
)

func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func TestDecodeAcceptsEachForm(t *testing.T) {
	for name, want := range map[string]events.Tick{
		"schedule":     {Time: due, Source: events.KindSchedule, ID: "d32c5kddcf5bb8c3", Attempt: 1},
		"rule":         {Time: due, Source: events.KindRule, ID: "53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa"},
		"manual":       {Source: events.KindManual},
		"manual-tick":  {Time: due, Source: events.KindManual},
		"manual-force": {Time: due, Source: events.KindManual, Force: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := events.Decode(sample(t, name), now)
			if err != nil || got != want {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestScheduleInputIsWhatDecodeReads(t *testing.T) {
	filled := strings.NewReplacer(
		"<aws.scheduler.scheduled-time>", "2026-12-01T02:00:00Z",
		"<aws.scheduler.execution-id>", "d32c5kddcf5bb8c3",
		"<aws.scheduler.attempt-number>", "3",
	).Replace(events.ScheduleInput)
	got, err := events.Decode([]byte(filled), now)
	if err != nil || got.Attempt != 3 || !got.Time.Equal(due) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDecodeConvertsZones(t *testing.T) {
	got, err := events.Decode([]byte(`{"tick":"2026-12-01T03:00:00.250+01:00"}`), now)
	if want := due.Add(250 * time.Millisecond); err != nil || got.Time != want {
		t.Errorf("got %v, %v, want %v", got.Time, err, want)
	}
}

func TestDecodeCutsTheWhiteSpaceOfJSON(t *testing.T) {
	got, err := events.Decode([]byte(" \t\r\n{ \"tick\" : \"2026-12-01T02:00:00Z\" } \t\r\n"), now)
	if want := (events.Tick{Time: due, Source: events.KindManual}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

// What a rule's event carries beside its time and id is nobody's business here,
// be it a keyword or a name that stands twice.
func TestDecodeLeavesTheRestOfARulesEventAlone(t *testing.T) {
	for _, detail := range []string{`{"note":"<aws.scheduler.scheduled-time>"}`, `{"note":"\u003caws.scheduler.x>"}`, `{"a":1,"a":2}`} {
		got, err := events.Decode([]byte(`{"id":"x","detail-type":"Scheduled Event","source":"aws.events","time":"2026-12-01T02:00:00Z","detail":`+detail+`}`), now)
		if want := (events.Tick{Time: due, Source: events.KindRule, ID: "x"}); err != nil || got != want {
			t.Errorf("detail %s: got %+v, %v, want %+v", detail, got, err, want)
		}
	}
}

// bad inputs, each with words that its error must have: what came and what to do.
var bad = map[string]struct {
	input string
	words []string
}{
	"empty":                  {"", []string{"empty", "JSON object"}},
	"blank":                  {" \n", []string{"empty"}},
	"null":                   {"null", []string{"null", "{}"}},
	"number":                 {"1764554400", []string{`"1764554400"`, "seconds or milliseconds"}},
	"string":                 {`"2026-12-01T02:00:00Z"`, []string{"the string", `"2026-12-01T02:00:00Z"`}},
	"array":                  {`[{"tick":"2026-12-01T02:00:00Z"}]`, []string{"the array"}},
	"true":                   {"true", []string{"is true"}},
	"cut off":                {`{"tick":"2026-`, []string{"not JSON", "2026-"}},
	"vertical tab":           {"\v{}", []string{"not JSON", `'\v'`}},
	"no-break space":         {"\u00a0{}", []string{"not JSON"}},
	"next line at the end":   {"{}\u0085", []string{"not JSON"}},
	"form feed alone":        {"\f", []string{"not JSON"}},
	"two ticks":              {`{"tick":"2026-12-01T01:00:00Z","tick":"2026-12-01T02:00:00Z"}`, []string{`"tick" is there more than once`, "leave one"}},
	"the same tick twice":    {`{"tick":"2026-12-01T02:00:00Z","tick":"2026-12-01T02:00:00Z"}`, []string{`"tick"`, "more than once"}},
	"two ticks, one escaped": {`{"tick":"2026-12-01T01:00:00Z","t\u0069ck":"2026-12-01T02:00:00Z"}`, []string{`"tick"`, "more than once"}},
	"two forces":             {`{"tick":"2026-12-01T02:00:00Z","force":false,"force":true}`, []string{`"force"`, "more than once"}},
	"two attempts":           {`{"tick":"2026-12-01T02:00:00Z","execution_id":"x","attempt":"1","attempt":"2"}`, []string{`"attempt"`, "more than once"}},
	"two execution ids":      {`{"tick":"2026-12-01T02:00:00Z","execution_id":"x","execution_id":"y","attempt":"1"}`, []string{`"execution_id"`, "more than once"}},
	"rule with two times":    {`{"id":"x","detail-type":"Scheduled Event","source":"aws.events","time":"2026-12-01T01:00:00Z","time":"2026-12-01T02:00:00Z"}`, []string{`"time"`, "more than once"}},
	"rule with two sources":  {`{"id":"x","detail-type":"Scheduled Event","source":"aws.s3","source":"aws.events","time":"2026-12-01T02:00:00Z"}`, []string{`"source"`, "more than once"}},
	"rule, keyword for id":   {`{"id":"<aws.scheduler.execution-id>","detail-type":"Scheduled Event","source":"aws.events","time":"2026-12-01T02:00:00Z"}`, []string{`"<aws.scheduler.execution-id>"`}},
	"rule, keyword for time": {`{"id":"x","detail-type":"Scheduled Event","source":"aws.events","time":"<aws.scheduler.scheduled-time>"}`, []string{`"<aws.scheduler.scheduled-time>"`}},
	"two values":             {`{} {}`, []string{"not JSON"}},
	"invalid UTF-8":          {"\xff\xfe{", []string{"not JSON"}},
	"number tick":            {`{"tick":1764554400}`, []string{`"1764554400"`, "seconds or milliseconds", "RFC 3339"}},
	"millisecond tick":       {`{"tick":1764554400000}`, []string{`"1764554400000"`, "seconds or milliseconds"}},
	"float tick":             {`{"tick":-1.5e9}`, []string{`"-1.5e9"`, "seconds or milliseconds"}},
	"number in a string":     {`{"tick":"1764554400"}`, []string{`"1764554400"`, "RFC 3339"}},
	"null tick":              {`{"tick":null}`, []string{"tick is null"}},
	"empty tick":             {`{"tick":""}`, []string{`tick is the string ""`}},
	"tick object":            {`{"tick":{"time":"x"}}`, []string{"the object"}},
	"no zone":                {`{"tick":"2026-12-01T02:00:00"}`, []string{"zone", `"2026-12-01T02:00:00"`}},
	"space for T":            {`{"tick":"2026-12-01 02:00:00Z"}`, []string{"RFC 3339"}},
	"zone without colon":     {`{"tick":"2026-12-01T02:00:00+0100"}`, []string{"RFC 3339"}},
	"zone name":              {`{"tick":"2026-12-01T02:00:00 CET"}`, []string{"RFC 3339"}},
	"one-digit hour":         {`{"tick":"2026-12-01T2:00:00Z"}`, []string{"RFC 3339"}},
	"decimal comma":          {`{"tick":"2026-12-01T02:00:00,5Z"}`, []string{"RFC 3339"}},
	"date only":              {`{"tick":"2026-12-01"}`, []string{"RFC 3339"}},
	"hour 24":                {`{"tick":"2026-12-01T24:00:00Z"}`, []string{"RFC 3339"}},
	"now":                    {`{"tick":"now"}`, []string{`"now"`}},
	"microseconds":           {`{"tick":"2026-12-01T02:00:00.000001Z"}`, []string{"whole milliseconds", "02:00:00.000001Z"}},
	"too far ahead":          {`{"tick":"2026-12-01T02:05:03.001Z"}`, []string{"at most 5m0s after now", "02:05:03.001Z", "time zone"}},
	"far future":             {`{"tick":"9999-12-31T23:59:59Z"}`, []string{"tick is 9999-12-31T23:59:59Z and now is 2026-12-01T02:00:03Z;"}},
	"epoch":                  {`{"tick":"1970-01-01T00:00:00Z"}`, []string{"1970-01-01T00:00:00Z", "sample event"}},
	"year one":               {`{"tick":"0001-01-01T00:00:00Z"}`, []string{"after 1970"}},
	"console's sample":       {`{"id":"cdc73f9d","detail-type":"Scheduled Event","source":"aws.events","account":"123456789012","time":"1970-01-01T00:00:00Z","region":"us-east-1","resources":[],"detail":{}}`, []string{"sample event"}},
	"force alone":            {`{"force":true}`, []string{"force without a tick", `"tick"`}},
	"force in a string":      {`{"tick":"2026-12-01T02:00:00Z","force":"true"}`, []string{`force is the string "true"`, "true or false"}},
	"force null":             {`{"tick":"2026-12-01T02:00:00Z","force":null}`, []string{"force is null"}},
	"capital key":            {`{"Tick":"2026-12-01T02:00:00Z"}`, []string{`unknown fields "Tick"`}},
	"unknown fields":         {`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}`, []string{`"a"`, "and 2 more"}},
	"unsubstituted":          {events.ScheduleInput, []string{`"<aws.scheduler.scheduled-time>"`, "EventBridge Scheduler"}},
	"one unsubstituted":      {`{"tick":"2026-12-01T02:00:00Z","execution_id":"<aws.scheduler.execution-id>","attempt":"1"}`, []string{`"<aws.scheduler.execution-id>"`}},
	"escaped keyword":        {`{"tick":"\u003caws.scheduler.scheduled-time>","execution_id":"x","attempt":"1"}`, []string{"escape"}},
	"keyword in another key": {`{"<aws.scheduler.schedule-arn>":1}`, []string{"schedule-arn"}},
	"schedule without id":    {`{"tick":"2026-12-01T02:00:00Z","attempt":"1"}`, []string{"execution_id is missing", "aws.scheduler.execution-id"}},
	"schedule without tick":  {`{"execution_id":"x","attempt":"1"}`, []string{"tick is missing"}},
	"schedule with force":    {`{"tick":"2026-12-01T02:00:00Z","execution_id":"x","attempt":"1","force":true}`, []string{`"force"`}},
	"attempt number":         {`{"tick":"2026-12-01T02:00:00Z","execution_id":"x","attempt":1}`, []string{`attempt is the number "1"`, "string"}},
	"attempt zero":           {`{"tick":"2026-12-01T02:00:00Z","execution_id":"x","attempt":"0"}`, []string{`attempt is the string "0"`}},
	"attempt padded":         {`{"tick":"2026-12-01T02:00:00Z","execution_id":"x","attempt":"+1"}`, []string{`"+1"`}},
	"empty id":               {`{"tick":"2026-12-01T02:00:00Z","execution_id":"","attempt":"1"}`, []string{`execution_id is the string ""`}},
	"long id":                {`{"tick":"2026-12-01T02:00:00Z","execution_id":"` + strings.Repeat("x", 257) + `","attempt":"1"}`, []string{"1 to 256 bytes"}},
	"Scheduler's default":    {`{"version":"0","id":"x","detail-type":"Scheduled Event","source":"aws.scheduler","account":"1","time":"2026-12-01T02:00:00Z","region":"eu-central-1","resources":[],"detail":"{}"}`, []string{"no input", "execution_id"}},
	"S3 event":               {`{"version":"0","id":"x","detail-type":"Object Created","source":"aws.s3","time":"2026-12-01T02:00:00Z","detail":{}}`, []string{`"aws.s3"`, `"Object Created"`, "off the rule"}},
	"S3 notification":        {`{"Records":[{"eventSource":"aws:s3"}]}`, []string{"Records", "off that source"}},
	"HTTP API":               {`{"version":"2.0","routeKey":"$default","rawPath":"/","requestContext":{"http":{"method":"GET"}},"isBase64Encoded":false}`, []string{"HTTP request", "off the API"}},
	"REST API":               {`{"resource":"/","path":"/","httpMethod":"GET","headers":null,"body":null}`, []string{"HTTP request"}},
	"rule without time":      {`{"id":"x","detail-type":"Scheduled Event","source":"aws.events"}`, []string{"time is missing"}},
	"rule without id":        {`{"detail-type":"Scheduled Event","source":"aws.events","time":"2026-12-01T02:00:00Z"}`, []string{"id is missing"}},
	"rule without source":    {`{"id":"x","detail-type":"Scheduled Event","time":"2026-12-01T02:00:00Z"}`, []string{"source missing"}},
	"rule with number time":  {`{"id":"x","detail-type":"Scheduled Event","source":"aws.events","time":1764554400}`, []string{"time is the number", "seconds or milliseconds"}},
	"emoji on the border":    {`{"tick":"` + strings.Repeat("é🙂", 50) + `"}`, []string{"é🙂", "…"}},
	"control characters":     {`{"tick":"a\nb\u0000\u001b[31m"}`, []string{`"a\nb\x00\x1b[31m"`}},
}

func TestDecodeRefusesEverythingElse(t *testing.T) {
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			got, err := events.Decode([]byte(c.input), now)
			if err == nil {
				t.Fatalf("accepted as %+v", got)
			}
			in, ok := errors.AsType[*events.InputError](err)
			if !ok || !errors.Is(err, events.ErrInput) || in.Got == "" || in.Want == "" || in.Fix == "" {
				t.Errorf("error lacks what came, what was expected or what to do: %#v", err)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error does not name %s:\n%v", w, err)
				}
			}
			checkText(t, err)
			if got != (events.Tick{}) {
				t.Errorf("a tick beside the error: %+v", got)
			}
		})
	}
}

// checkText asserts that an error is safe to print wherever it came from.
func checkText(tb testing.TB, err error) {
	tb.Helper()
	s := err.Error()
	if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\x1b\n") || len(s) > 2000 {
		tb.Errorf("error of %d bytes is not safe to print: %q", len(s), s)
	}
}

func TestDecodeAllowsAnHonestClockDifference(t *testing.T) {
	at := now.Add(events.MaxAhead)
	if _, err := events.Decode([]byte(`{"tick":"`+at.Format(time.RFC3339)+`"}`), now); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"schedule", "rule", "manual", "manual-tick", "manual-force"} {
		f.Add(sample(f, name))
	}
	for _, c := range bad {
		f.Add([]byte(c.input))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		tick, err := events.Decode(input, now)
		if err != nil {
			checkText(t, err)
			return
		}
		if err := tick.Check(now); err != nil {
			t.Fatalf("Decode returned a tick that Check refuses: %v", err)
		}
		if !json.Valid(input) {
			t.Fatalf("accepted what is not JSON")
		}
		again, err := events.Encode(tick, now)
		if err != nil {
			t.Fatalf("%+v does not encode: %v", tick, err)
		}
		if back, err := events.Decode(again, now); err != nil || back != tick {
			t.Fatalf("%+v became %+v by way of %s (%v)", tick, back, again, err)
		}
	})
}
