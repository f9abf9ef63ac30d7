package bus

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/solotick/solotick/events"
)

// The service's limits for one call.
const (
	maxEntries = 10
	maxBytes   = 256 << 10 // of all entries together, and less than that
)

func (b *Bus) encode(details []events.Detail) ([]types.PutEventsRequestEntry, error) {
	entries := make([]types.PutEventsRequestEntry, len(details))
	for i, d := range details {
		detail, err := events.EncodeDetail(d)
		if err != nil {
			return nil, err
		}
		entries[i] = types.PutEventsRequestEntry{
			EventBusName: aws.String(b.name),
			Source:       aws.String(events.Source),
			DetailType:   aws.String(d.DetailType()),
			Detail:       aws.String(string(detail)),
			Time:         aws.Time(d.About().At),
		}
	}
	return entries, nil
}

// calls splits the entries into calls that fit. No entry is too large for a call
// of its own, because package events bounds every text of a detail.
func calls(entries []types.PutEventsRequestEntry) [][]types.PutEventsRequestEntry {
	var all [][]types.PutEventsRequestEntry
	first, bytes := 0, 0
	for i, e := range entries {
		n := size(e)
		if i > first && (i-first == maxEntries || bytes+n >= maxBytes) {
			all = append(all, entries[first:i])
			first, bytes = i, 0
		}
		bytes += n
	}
	return append(all, entries[first:])
}

// size counts an entry as the service does: 14 bytes for the time, and the bytes
// of the texts in UTF-8.
func size(e types.PutEventsRequestEntry) int {
	return 14 + len(aws.ToString(e.Source)) + len(aws.ToString(e.DetailType)) + len(aws.ToString(e.Detail))
}
