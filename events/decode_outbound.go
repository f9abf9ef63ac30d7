package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// ErrUnknownType says that an event of ours has a detail-type that this version
// does not know. A consumer ignores it: a newer producer says something that had
// no name yet.
var ErrUnknownType = errors.New("events: the detail-type is not known to this version")

// Envelope is an event as EventBridge delivers it to a consumer.
type Envelope struct {
	// ID is the event's own. EventBridge delivers at least once and in no order:
	// dedupe by it.
	ID      string
	Time    time.Time
	Account string
	Region  string
	Detail  Detail
}

// DecodeOutbound reads one of our events from its EventBridge envelope, for
// consumers. It ignores fields that it does not know, because newer versions add
// some, and keeps no part of input. An event of another source, one without an
// id, and a detail without its job or time are an [InputError]; a detail-type that
// is new matches [ErrUnknownType].
func DecodeOutbound(input []byte) (Envelope, error) {
	var raw struct {
		ID         string          `json:"id"`
		Source     string          `json:"source"`
		DetailType string          `json:"detail-type"`
		Account    string          `json:"account"`
		Region     string          `json:"region"`
		Time       time.Time       `json:"time"`
		Detail     json.RawMessage `json:"detail"`
	}
	if err := json.Unmarshal(input, &raw); err != nil {
		return Envelope{}, &InputError{Got: "the input is no EventBridge envelope (" + err.Error() + "): " + quote(string(input)), Want: wantEnvelope, Fix: fixEnvelope}
	}
	if raw.Source != Source {
		return Envelope{}, &InputError{Got: "an event with source " + quote(raw.Source), Want: wantEnvelope, Fix: fixEnvelope}
	}
	if raw.ID == "" {
		return Envelope{}, &InputError{Got: "an event without an id", Want: wantEnvelope, Fix: "send it through EventBridge, which gives each event an id"}
	}
	detail, err := DecodeDetail(raw.DetailType, raw.Detail)
	if err != nil {
		return Envelope{}, err
	}
	return Envelope{ID: raw.ID, Time: raw.Time.UTC(), Account: raw.Account, Region: raw.Region, Detail: detail}, nil
}

const (
	wantEnvelope = `an EventBridge event with source "` + Source + `", an id, a detail-type and a detail`
	fixEnvelope  = `give the rule the event pattern {"source": ["` + Source + `"]}`
)

// DecodeDetail reads a detail without its envelope, such as one that was stored.
// Its errors are those of [DecodeOutbound].
func DecodeDetail(kind string, raw json.RawMessage) (Detail, error) {
	switch kind {
	case TypeRunStarted:
		return read[RunStarted](kind, raw)
	case TypeRunEnded:
		return read[RunEnded](kind, raw)
	case TypeLockTakenOver:
		return read[LockTakenOver](kind, raw)
	case TypeControlChanged:
		return read[ControlChanged](kind, raw)
	case TypeGap:
		return read[Gap](kind, raw)
	default:
		return nil, fmt.Errorf("%w: %s", ErrUnknownType, quote(kind))
	}
}

func read[D Detail](kind string, raw json.RawMessage) (Detail, error) {
	bad := func(got string) (Detail, error) {
		return nil, &InputError{Got: "a " + quote(kind) + " event, " + got, Want: "a detail object with version, job and at, as schema/ says", Fix: "correct its producer"}
	}
	if len(raw) == 0 {
		return bad("without a detail")
	}
	var d D
	if err := json.Unmarshal(raw, &d); err != nil {
		return bad("whose detail cannot be read (" + err.Error() + ")")
	}
	switch h := d.About(); {
	case h.Version < 1:
		return bad(fmt.Sprintf("whose version is %d", h.Version))
	case h.Job == "":
		return bad("without a job")
	case h.At.IsZero():
		return bad("without a time")
	}
	return d, nil
}
