package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/solotick/solotick/events"
)

// kinds are the names of the files of each detail-type, in schema/ and in
// testdata/outbound/.
var kinds = map[string]string{
	events.TypeRunStarted: "run-started", events.TypeRunEnded: "run-ended", events.TypeLockTakenOver: "lock-taken-over",
	events.TypeControlChanged: "control-changed", events.TypeGap: "gap",
}

// full has a value in every field of each detail, so that a field that a schema
// or an encoder forgets is found.
func full() []events.Detail {
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			panic(err)
		}
		return parsed
	}
	h := events.Header{
		Version: events.SchemaVersion, Job: "j", Tick: at("2026-12-01T01:00:00Z"), Token: 9007199254740993,
		Holder: "h", RequestID: "q", RunID: "r", At: at("2026-12-01T01:00:00.5Z"),
	}
	return []events.Detail{
		events.RunStarted{Header: h, Began: at("2026-12-01T01:00:00.25Z"), TickSource: events.KindRule, Attempt: 2, Forced: true, Since: at("2026-11-30T01:00:00Z")},
		events.RunEnded{
			Header: h, Began: at("2026-12-01T01:00:00.25Z"), Outcome: "failed", TickSource: events.KindManual, Attempt: 1, Forced: true, Since: at("2026-11-30T01:00:00Z"), Marked: true,
			HeldBy: "o", DoneTick: at("2026-11-29T01:00:00Z"), PausedBy: "p", WaitedMS: 1, WorkedMS: 2, Requests: 3,
			Counts: map[string]int64{"a": 4}, Warning: "w", Error: "e",
		},
		events.LockTakenOver{
			Header: h, FormerHolder: "f", FormerToken: 5, UnknownClient: true, FormerTick: at("2026-11-30T01:00:00Z"),
			FormerStarted: at("2026-11-30T01:00:01Z"), FormerRequestID: "g", FormerLogStream: "l",
		},
		events.ControlChanged{Header: h, Control: events.ControlStop, ControlID: "i", By: "b", Why: "y", Until: at("2026-12-02T01:00:00Z")},
		events.Gap{Header: h, From: at("2026-11-20T01:00:00Z"), To: at("2026-11-28T01:00:00Z")},
	}
}

func envelope(t *testing.T, d events.Detail) []byte {
	t.Helper()
	detail, err := events.EncodeDetail(d)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{"id": "1", "source": events.Source, "detail-type": d.DetailType(), "time": "2026-12-01T01:00:00Z", "detail": json.RawMessage(detail)})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEveryDetailSurvivesItsWay(t *testing.T) {
	for _, d := range full() {
		got, err := events.DecodeOutbound(envelope(t, d))
		if err != nil || !reflect.DeepEqual(got.Detail, d) {
			t.Errorf("%s: got %+v, %v, expected %+v", d.DetailType(), got.Detail, err, d)
		}
	}
}

func TestTheEnvelopesOnRecordStayReadable(t *testing.T) {
	for kind, file := range kinds {
		raw := golden(t, "testdata/outbound", file)
		got, err := events.DecodeOutbound(raw)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if got.Detail.DetailType() != kind || !strings.HasPrefix(got.ID, "6a7e8feb-") || got.Account != "123456789012" || got.Region != "eu-central-1" || got.Time.IsZero() {
			t.Errorf("%s: got %+v", file, got)
		}
		var env struct{ Detail json.RawMessage }
		if err := json.Unmarshal(raw, &env); err != nil {
			t.Fatal(err)
		}
		again, err := events.EncodeDetail(got.Detail)
		if err != nil || !sameJSON(t, again, env.Detail) {
			t.Errorf("%s: encoded again it is %s, %v\nand was %s", file, again, err, env.Detail)
		}
	}
}

func TestTheSchemasDescribeEveryField(t *testing.T) {
	for _, d := range full() {
		file := kinds[d.DetailType()]
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		schema, err := c.Compile(filepath.Join("schema", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := events.EncodeDetail(d)
		if err != nil {
			t.Fatal(err)
		}
		validate := func(what string, b []byte) {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
			if err == nil {
				err = schema.Validate(v)
			}
			if err != nil {
				t.Errorf("%s, %s: %v", file, what, err)
			}
		}
		validate("with every field", encoded)
		var env struct{ Detail json.RawMessage }
		if err := json.Unmarshal(golden(t, "testdata/outbound", file), &env); err != nil {
			t.Fatal(err)
		}
		validate("on record", env.Detail)

		var doc struct {
			Properties map[string]any
			Required   []string
		}
		var fields map[string]any
		if err := errors.Join(json.Unmarshal(golden(t, "schema", file), &doc), json.Unmarshal(encoded, &fields)); err != nil {
			t.Fatal(err)
		}
		known, sent := slices.Sorted(maps.Keys(doc.Properties)), slices.Sorted(maps.Keys(fields))
		if !slices.Equal(known, sent) {
			t.Errorf("%s describes %v, and the detail has %v", file, known, sent)
		}
		for _, name := range doc.Required { // a detail without it must be found
			short := maps.Clone(fields)
			delete(short, name)
			if schema.Validate(short) == nil {
				t.Errorf("%s accepts a detail without %s", file, name)
			}
		}
	}
}

func TestTextsAreCutOnARuneAndStayUTF8(t *testing.T) {
	emoji := strings.Repeat("🦊", 75_000) // 300 KB
	d := events.RunEnded{
		Header:  events.Header{Job: "j", Holder: emoji, RequestID: "a\xffb\"\n\x00", At: time.Unix(1, 0)},
		Outcome: "failed", Error: "x" + emoji, Warning: strings.Repeat("\x00", events.MaxText+1),
	}
	for range 30 {
		if d.Counts == nil {
			d.Counts = map[string]int64{}
		}
		d.Counts[strings.Repeat("n", len(d.Counts)+1)] = 1
	}
	b, err := events.EncodeDetail(d)
	if err != nil || !utf8.Valid(b) || !json.Valid(b) || len(b) > 32<<10 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	var got events.RunEnded
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if want := emoji[:events.MaxText]; got.Holder != want || got.Error != "x"+emoji[:events.MaxText-4] {
		t.Errorf("holder %d bytes, error %d bytes", len(got.Holder), len(got.Error))
	}
	if got.RequestID != "a\uFFFDb\"\n\x00" || len(got.Counts) != events.MaxCounts || len(d.Counts) != 30 {
		t.Errorf("request id %q, %d counts, the caller's %d", got.RequestID, len(got.Counts), len(d.Counts))
	}
}

func TestADetailThatNobodyCouldPlaceIsRefused(t *testing.T) {
	for _, test := range []struct {
		d    events.Detail
		want string
	}{
		{nil, "the detail is nil"},
		{events.Gap{Header: events.Header{At: time.Unix(1, 0)}}, `a "gap" event without a job`},
		{events.Gap{Header: events.Header{Job: "j"}}, `a "gap" event of job "j" without a time`},
		{events.Gap{Header: events.Header{Job: "j", At: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}}, `a "gap" event of job "j": `},
	} {
		if b, err := events.EncodeDetail(test.d); err == nil || !strings.Contains(err.Error(), test.want) || b != nil {
			t.Errorf("%+v: got %s, %v, expected %s", test.d, b, err, test.want)
		}
	}
}

func TestAConsumerIsToldWhatIsWrong(t *testing.T) {
	for input, want := range map[string]string{
		``:                      "the input is no EventBridge envelope",
		`[]`:                    "the input is no EventBridge envelope",
		`{"source":"aws.s3"}`:   `an event with source "aws.s3"; expected an EventBridge event with source "solotick"`,
		`{"source":"solotick"}`: "an event without an id",
		`{"source":"solotick","id":"1","detail-type":"gap"}`:                                                    `a "gap" event, without a detail`,
		`{"source":"solotick","id":"1","detail-type":"gap","detail":[]}`:                                        `whose detail cannot be read`,
		`{"source":"solotick","id":"1","detail-type":"gap","detail":{"job":"j","at":"2026-12-01T01:00:00Z"}}`:   "whose version is 0",
		`{"source":"solotick","id":"1","detail-type":"gap","detail":{"version":1,"at":"2026-12-01T01:00:00Z"}}`: "without a job",
		`{"source":"solotick","id":"1","detail-type":"gap","detail":{"version":1,"job":"j"}}`:                   "without a time",
		`{"source":"solotick","id":"1","detail-type":"gap","detail":{"version":1,"job":"j","at":1}}`:            "whose detail cannot be read",
	} {
		_, err := events.DecodeOutbound([]byte(input))
		if _, typed := errors.AsType[*events.InputError](err); !typed || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, expected %s", input, err, want)
		}
	}
	_, err := events.DecodeOutbound([]byte(`{"source":"solotick","id":"1","detail-type":"run paused","detail":{}}`))
	if !errors.Is(err, events.ErrUnknownType) || !strings.Contains(err.Error(), "run paused") {
		t.Errorf("a new detail-type: got %v", err)
	}
	// A field that is new, in a later version of the detail, is no reason to fail.
	got, err := events.DecodeOutbound([]byte(`{"source":"solotick","id":"1","detail-type":"gap","new":1,"detail":{"version":2,"job":"j","at":"2026-12-01T01:00:00Z","also":{}}}`))
	if err != nil || got.Detail.About().Version != 2 {
		t.Errorf("a later version: got %+v, %v", got, err)
	}
}

func TestOurOwnEventsStartNoJob(t *testing.T) {
	for _, d := range full() {
		if tick, err := events.Decode(envelope(t, d), time.Now()); err == nil {
			t.Errorf("%s is taken for the tick %+v", d.DetailType(), tick)
		}
	}
}

func golden(t *testing.T, folder, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, file+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
