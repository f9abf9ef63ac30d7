package history_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/functions/history"
	"github.com/solotick/solotick/lockkit/locktest"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func store(tb testing.TB, retention time.Duration) (*locktest.DB, *history.Store) {
	tb.Helper()
	db := locktest.New()
	client := db.Client()
	if err := locktest.CreateTable(tb.Context(), client, "locks", "pk", "sk"); err != nil {
		tb.Fatal(err)
	}
	s, err := history.New(client, history.Config{Table: "locks", TTLAttribute: "expires", Retention: retention})
	if err != nil {
		tb.Fatal(err)
	}
	return db, s
}

func started(id, run string, tick time.Time) events.Envelope {
	return events.Envelope{ID: id, Detail: events.RunStarted{
		Header: events.Header{Version: events.SchemaVersion, Job: "j", Tick: tick, RunID: run, At: noon.Add(time.Second)}, Began: noon,
	}}
}

func ended(id, run string, tick time.Time, outcome string) events.Envelope {
	return events.Envelope{ID: id, Detail: events.RunEnded{
		Header: events.Header{Version: events.SchemaVersion, Job: "j", Tick: tick, RunID: run, At: noon.Add(2 * time.Second)}, Began: noon, Outcome: outcome,
	}}
}

func control(id string, at time.Time) events.Envelope {
	return events.Envelope{ID: id, Detail: events.ControlChanged{
		Header: events.Header{Version: events.SchemaVersion, Job: "j", At: at}, Control: events.ControlPause, By: "ana",
	}}
}

// line shows what an entry tells.
func line(e history.Entry) string {
	switch d := e.Detail.(type) {
	case events.RunStarted:
		return d.RunID + " started"
	case events.RunEnded:
		return d.RunID + " " + d.Outcome
	default:
		return e.EventID + " " + d.DetailType()
	}
}

func list(tb testing.TB, s *history.Store, q history.Query) []string {
	tb.Helper()
	entries, err := s.List(tb.Context(), "j", q)
	if err != nil {
		tb.Fatal(err)
	}
	lines := []string{}
	for _, e := range entries {
		lines = append(lines, line(e))
	}
	return lines
}

func TestAnyOrderGivesTheSameHistory(t *testing.T) {
	all := []events.Envelope{
		started("1", "r1", noon), ended("2", "r1", noon, "completed"),
		started("3", "r2", noon), ended("4", "r2", noon, "lost"), // a retry of the same tick
		started("5", "r3", noon.Add(time.Hour)), // its end was lost
		ended("6", "r4", noon.Add(2*time.Hour), "skipped"),
		started("7", "m", time.Time{}), ended("8", "m", time.Time{}, "completed"), // without a tick
		control("9", noon.Add(30*time.Minute)),
	}
	want := []string{"r4 skipped", "r3 started", "9 control changed", "r2 lost", "r1 completed", "m completed"}
	rapid.Check(t, func(r *rapid.T) {
		_, s := store(t, 0)
		order := rapid.Permutation(slices.Concat(all, all)).Draw(r, "order") // each twice
		kept := 0
		for _, e := range order {
			ok, err := s.Put(t.Context(), e)
			if err != nil {
				r.Fatal(err)
			}
			if ok {
				kept++
			}
		}
		if got := list(t, s, history.Query{}); !slices.Equal(got, want) {
			r.Fatalf("got %v, expected %v", got, want)
		}
		if kept < 6 || kept > 9 {
			r.Fatalf("%d of 9 events were kept at first sight", kept)
		}
	})
}

func TestAListIsBounded(t *testing.T) {
	_, s := store(t, 0)
	for i := range 30 {
		if _, err := s.Put(t.Context(), ended(fmt.Sprint(i), fmt.Sprintf("r%02d", i), noon.Add(time.Duration(i)*time.Minute), "completed")); err != nil {
			t.Fatal(err)
		}
	}
	at := func(i int) time.Time { return noon.Add(time.Duration(i) * time.Minute) }
	for _, test := range []struct {
		q           history.Query
		first, last string
		n           int
	}{
		{history.Query{}, "r29", "r00", 30},
		{history.Query{Limit: 2}, "r29", "r28", 2},
		{history.Query{From: at(10), To: at(12)}, "r12", "r10", 3},
		{history.Query{From: at(28)}, "r29", "r28", 2},
		{history.Query{To: at(1)}, "r01", "r00", 2},
		{history.Query{To: at(5), Limit: 1}, "r05", "r05", 1},
	} {
		got := list(t, s, test.q)
		if len(got) != test.n || !strings.HasPrefix(got[0], test.first) || !strings.HasPrefix(got[len(got)-1], test.last) {
			t.Errorf("%+v: got %v, expected %d from %s to %s", test.q, got, test.n, test.first, test.last)
		}
	}
	if got, err := s.List(t.Context(), "other", history.Query{}); err != nil || len(got) != 0 {
		t.Errorf("a job without a history: %v, %v", got, err)
	}
}

func TestAnEntryIsTheEventAndExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, s := store(t, time.Hour)
		e := ended("1", "r", noon, "failed")
		if ok, err := s.Put(t.Context(), e); err != nil || !ok {
			t.Fatal(ok, err)
		}
		entries, err := s.List(t.Context(), "j", history.Query{})
		if err != nil || len(entries) != 1 || entries[0].EventID != "1" || !reflect.DeepEqual(entries[0].Detail, e.Detail) {
			t.Fatalf("%+v, %v", entries, err)
		}
		text := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
		item := db.Item("locks", map[string]types.AttributeValue{"pk": text("RUN#j"), "sk": text("2026-12-01T12:00:00.000Z#r")})
		if n, ok := item["expires"].(*types.AttributeValueMemberN); !ok || n.Value != fmt.Sprint(time.Now().Add(time.Hour).Unix()) {
			t.Errorf("expires %+v", item["expires"])
		}
	})
}

func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	_, s := store(t, 0)
	for want, e := range map[string]events.Envelope{
		"without an id or a detail": {},
		"without a job":             {ID: "1", Detail: events.Gap{}},
	} {
		if _, err := s.Put(t.Context(), e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
	for _, c := range []history.Config{{}, {Table: "locks", Retention: -1}, {Table: "locks", Retention: time.Millisecond}} {
		if _, err := history.New(locktest.New().Client(), c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	missing, err := history.New(locktest.New().Client(), history.Config{Table: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := missing.Put(t.Context(), ended("1", "r", noon, "failed")); err == nil || !strings.Contains(err.Error(), `keep event 1 (run ended of job "j") in table "none"`) {
		t.Errorf("a missing table: %v", err)
	}
	if _, err := missing.List(t.Context(), "j", history.Query{}); err == nil || !strings.Contains(err.Error(), `the history of job "j" in table "none"`) {
		t.Errorf("a missing table: %v", err)
	}
}
