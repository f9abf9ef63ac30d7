package orders

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes of a report.
const (
	AttrReport     = "report"     // S, the tick that it was made for, RFC 3339 in UTC; the table's only key
	AttrAfter      = "after"      // N, Unix ms
	AttrUpTo       = "upTo"       // N, Unix ms
	AttrOrders     = "orders"     // N
	AttrReportedBy = "reportedBy" // N, the fencing token of the run that wrote it
)

// SettleTime is how far the reports stay behind their ticks: the report of a tick
// has the orders that were placed until SettleTime before it. Within that time an
// order must have reached the index, though the shop's clock may be slow, its
// write may be under way for a while, and the index follows the table. An order
// that takes longer is in no report.
const SettleTime = 10 * time.Minute

// Report sums up the orders that were placed in (After, UpTo], whatever became
// of them. The intervals of one report and the next touch and do not overlap.
type Report struct {
	Tick        time.Time
	After, UpTo time.Time
	Orders      int64
	Total       int64 // in cents
	Token       int64
}

// ReportKey is the key of the report that was made for a tick.
func ReportKey(tick time.Time) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{AttrReport: Text(tick.UTC().Format(time.RFC3339Nano))}
}

// Item is the report as it is stored.
func (r Report) Item() map[string]types.AttributeValue {
	item := ReportKey(r.Tick)
	item[AttrAfter], item[AttrUpTo] = Number(r.After.UnixMilli()), Number(r.UpTo.UnixMilli())
	item[AttrOrders], item[AttrTotal], item[AttrReportedBy] = Number(r.Orders), Number(r.Total), Number(r.Token)
	return item
}

// ReadReport decodes an item. The error names the report and what is wrong with
// it.
func ReadReport(item map[string]types.AttributeValue) (Report, error) {
	name := text(item[AttrReport])
	tick, err := time.Parse(time.RFC3339Nano, name)
	if err != nil {
		return Report{}, fmt.Errorf("report %q: its key is no time: %w", name, err)
	}
	r := Report{Tick: tick}
	var after, upTo int64
	for attribute, into := range map[string]*int64{
		AttrAfter: &after, AttrUpTo: &upTo, AttrOrders: &r.Orders, AttrTotal: &r.Total, AttrReportedBy: &r.Token,
	} {
		if *into, err = number(item[attribute]); err != nil {
			return r, fmt.Errorf("report %q: attribute %s: %w", name, attribute, err)
		}
	}
	r.After, r.UpTo = time.UnixMilli(after).UTC(), time.UnixMilli(upTo).UTC()
	return r, nil
}
