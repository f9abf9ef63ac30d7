package events

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of what is sent: an event must fit EventBridge's limit for a whole
// call, whatever a label, a note or an error holds.
const (
	MaxText   = 1024 // bytes of UTF-8 of each text; longer ones are cut
	MaxCounts = 20   // entries of Counts; those after the first 20 by name are dropped
)

// EncodeDetail returns the detail as the JSON object that is published, with the
// schema version set, times in UTC and every text within [MaxText]: a text that
// is longer is cut before a rune that would not fit, and bytes that are not UTF-8
// become U+FFFD. It fails for a detail without a job or a time, which no consumer
// could place, and for nil.
func EncodeDetail(d Detail) ([]byte, error) {
	if d == nil {
		return nil, fmt.Errorf("events: the detail is nil: expected one of %s", strings.Join(types(), ", "))
	}
	switch h := d.About(); {
	case h.Job == "":
		return nil, fmt.Errorf("events: a %q event without a job: set its Job", d.DetailType())
	case h.At.IsZero():
		return nil, fmt.Errorf("events: a %q event of job %q without a time: set its At", d.DetailType(), h.Job)
	}
	b, err := json.Marshal(d.bounded())
	if err != nil { // a time beyond year 9999
		return nil, fmt.Errorf("events: a %q event of job %q: %w", d.DetailType(), d.About().Job, err)
	}
	return b, nil
}

func types() []string {
	return []string{TypeRunStarted, TypeRunEnded, TypeLockTakenOver, TypeControlChanged, TypeGap}
}

func (h Header) sent() Header {
	h.Version = SchemaVersion
	h.Job, h.Holder, h.RequestID, h.RunID = cut(h.Job), cut(h.Holder), cut(h.RequestID), cut(h.RunID)
	h.Tick, h.At = h.Tick.UTC(), h.At.UTC()
	return h
}

func (d RunStarted) bounded() Detail {
	d.Header = d.sent()
	d.Began, d.Since = d.Began.UTC(), d.Since.UTC()
	return d
}

func (d RunEnded) bounded() Detail {
	d.Header = d.sent()
	d.Outcome, d.HeldBy, d.PausedBy = cut(d.Outcome), cut(d.HeldBy), cut(d.PausedBy)
	d.Warning, d.Error = cut(d.Warning), cut(d.Error)
	d.Began, d.Since, d.DoneTick = d.Began.UTC(), d.Since.UTC(), d.DoneTick.UTC()
	if d.Counts != nil {
		names := slices.Sorted(maps.Keys(d.Counts))
		counts := make(map[string]int64, min(len(names), MaxCounts))
		for _, name := range names[:min(len(names), MaxCounts)] {
			counts[cut(name)] = d.Counts[name]
		}
		d.Counts = counts
	}
	return d
}

func (d LockTakenOver) bounded() Detail {
	d.Header = d.sent()
	d.FormerHolder, d.FormerRequestID, d.FormerLogStream = cut(d.FormerHolder), cut(d.FormerRequestID), cut(d.FormerLogStream)
	d.FormerTick, d.FormerStarted = d.FormerTick.UTC(), d.FormerStarted.UTC()
	return d
}

func (d ControlChanged) bounded() Detail {
	d.Header = d.sent()
	d.ControlID, d.By, d.Why = cut(d.ControlID), cut(d.By), cut(d.Why)
	d.Until = d.Until.UTC()
	return d
}

func (d Gap) bounded() Detail {
	d.Header = d.sent()
	d.From, d.To = d.From.UTC(), d.To.UTC()
	return d
}

// cut bounds a text on a rune's border.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= MaxText {
		return s
	}
	end := MaxText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
