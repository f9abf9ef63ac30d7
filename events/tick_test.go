package events_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/events"
)

func TestCheckRefusesTicksAProgramMadeWrongly(t *testing.T) {
	for name, c := range map[string]struct {
		tick events.Tick
		word string
	}{
		"unknown kind":          {events.Tick{Source: "cron", Time: due}, `"cron"`},
		"schedule without time": {events.Tick{Source: events.KindSchedule}, "without a time"},
		"forced schedule":       {events.Tick{Source: events.KindRule, Time: due, Force: true}, "force"},
		"force without tick":    {events.Tick{Force: true}, "force without a tick"},
		"nanoseconds":           {events.Tick{Time: due.Add(1)}, "whole milliseconds"},
		"ahead":                 {events.Tick{Time: now.Add(events.MaxAhead + time.Millisecond)}, "after now"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.tick.Check(now); err == nil || !strings.Contains(err.Error(), c.word) {
				t.Errorf("got %v, want an error with %q", err, c.word)
			}
		})
	}
	for _, ok := range []events.Tick{{}, {Time: due}, {Time: due, Force: true}} {
		if err := ok.Check(now); err != nil || !ok.Manual() {
			t.Errorf("%+v: %v", ok, err)
		}
	}
}

func TestEncodeWritesNoEscapes(t *testing.T) {
	b, err := events.Encode(events.Tick{Time: due, Source: events.KindSchedule, ID: "a<b>&", Attempt: 2}, now)
	if err != nil || !bytes.Contains(b, []byte("a<b>&")) {
		t.Errorf("got %s, %v", b, err)
	}
	if _, err := events.Encode(events.Tick{Time: due, Source: events.KindSchedule}, now); err == nil {
		t.Error("encoded a schedule's tick without an id")
	}
}
