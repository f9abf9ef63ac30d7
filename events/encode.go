package events

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// Encode writes a tick in the form its source would send, so that [Decode]
// returns it again: for whoever invokes a job the way AWS does. A rule's
// envelope has only the fields that Decode reads; a field that the tick's kind
// does not send (the ID of a manual tick) is left out. It returns the error of
// [Tick.Check], judged by now, and never a form that Decode refuses for the
// same now.
func Encode(t Tick, now time.Time) ([]byte, error) {
	if err := t.Check(now); err != nil {
		return nil, err
	}
	form := map[string]any{}
	at := t.Time.UTC().Format(time.RFC3339Nano)
	switch t.Source {
	case KindSchedule:
		form["tick"], form["execution_id"], form["attempt"] = at, t.ID, strconv.Itoa(t.Attempt)
	case KindRule:
		form["source"], form["detail-type"] = "aws.events", "Scheduled Event"
		form["time"], form["id"] = at, t.ID
	default:
		if !t.Time.IsZero() {
			form["tick"] = at
		}
		if t.Force {
			form["force"] = true
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(form); err != nil {
		return nil, err
	}
	line := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	// What only the kind's form can refuse: an id or an attempt it must have.
	if _, err := Decode(line, now); err != nil {
		return nil, err
	}
	return line, nil
}
