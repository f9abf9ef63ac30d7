package singleton

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

func TestCover(t *testing.T) {
	const hour = time.Hour
	base := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	at := func(h int) time.Time { return base.Add(time.Duration(h) * hour) }
	item := func(done, cursor int) lockkit.Item { // hours; -1: none
		it := lockkit.Item{}
		if done >= 0 {
			it[lockkit.AttrTick] = wire.Number(at(done).UnixMilli())
		}
		if cursor >= 0 {
			it[lockkit.AttrCursor] = wire.Cursor{Tick: at(cursor), Data: "c"}.Value()
		}
		return it
	}
	hourly, bounded := job.Spec{ExpectedInterval: hour}, job.Spec{ExpectedInterval: hour, CatchUp: 5 * hour}
	for name, c := range map[string]struct {
		spec  job.Spec
		tick  int
		force bool
		item  lockkit.Item
		want  interval
	}{
		"first run":                             {hourly, 10, false, nil, interval{tick: at(10), since: at(7), keeps: true}},
		"first run, with its own limit":         {bounded, 10, false, nil, interval{tick: at(10), since: at(5), keeps: true}},
		"first run without a limit":             {job.Spec{}, 10, false, nil, interval{tick: at(10), keeps: true}},
		"every hour":                            {hourly, 10, false, item(9, -1), interval{tick: at(10), since: at(9), keeps: true}},
		"just within the limit":                 {hourly, 10, false, item(7, -1), interval{tick: at(10), since: at(7), keeps: true}},
		"beyond the limit":                      {hourly, 10, false, item(6, -1), interval{tick: at(10), since: at(7), gap: &Gap{From: at(6), To: at(7)}, keeps: true}},
		"long ago without a limit":              {job.Spec{}, 10, false, item(0, -1), interval{tick: at(10), since: at(0), keeps: true}},
		"cursor of this tick":                   {hourly, 10, false, item(9, 10), interval{tick: at(10), since: at(9), cursor: wire.Cursor{Tick: at(10), Data: "c"}, keeps: true}},
		"cursor of an older tick":               {hourly, 10, false, item(8, 9), interval{tick: at(10), since: at(8), cursor: wire.Cursor{Tick: at(9), Data: "c"}, keeps: true}},
		"cursor of a newer tick":                {hourly, 10, false, item(8, 11), interval{tick: at(11), since: at(8), cursor: wire.Cursor{Tick: at(11), Data: "c"}, keeps: true}},
		"cursor on the first run":               {hourly, 10, false, item(-1, 9), interval{tick: at(10), since: at(7), cursor: wire.Cursor{Tick: at(9), Data: "c"}, keeps: true}},
		"cursor of the done tick":               {hourly, 10, false, item(9, 9), interval{tick: at(10), since: at(9), keeps: true}},
		"cursor from before the done tick":      {hourly, 10, false, item(9, 8), interval{tick: at(10), since: at(9), keeps: true}},
		"forced, not done":                      {hourly, 10, true, item(9, -1), interval{tick: at(10), since: at(9), keeps: true}},
		"forced, not done, newer cursor":        {hourly, 10, true, item(9, 11), interval{tick: at(11), since: at(9), cursor: wire.Cursor{Tick: at(11), Data: "c"}, keeps: true}},
		"forced, the done one":                  {hourly, 10, true, item(10, -1), interval{tick: at(10), since: at(9), rerun: true, keeps: true}},
		"forced, an older one":                  {hourly, 8, true, item(10, -1), interval{tick: at(8), since: at(7), rerun: true, keeps: true}},
		"forced, older, unknown interval":       {job.Spec{CatchUp: hour}, 8, true, item(10, -1), interval{tick: at(8), rerun: true, keeps: true}},
		"forced, older, cursor of a later tick": {hourly, 8, true, item(10, 11), interval{tick: at(8), since: at(7), rerun: true}},
		"forced, older, its own cursor":         {hourly, 8, true, item(10, 8), interval{tick: at(8), since: at(7), cursor: wire.Cursor{Tick: at(8), Data: "c"}, rerun: true, keeps: true}},
		"forced over a tick that is no number":  {hourly, 10, true, lockkit.Item{lockkit.AttrTick: wire.String("x")}, interval{tick: at(10), since: at(7), keeps: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := cover(events.Tick{Time: at(c.tick), Force: c.force}, c.item, c.spec.WithDefaults(), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			gap := got.gap
			if (gap == nil) != (c.want.gap == nil) || gap != nil && *gap != *c.want.gap {
				t.Errorf("gap %v, want %v", gap, c.want.gap)
			}
			got.gap, c.want.gap = nil, nil
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	for name, it := range map[string]lockkit.Item{
		"tick":   {lockkit.AttrTick: wire.String("x")},
		"cursor": {lockkit.AttrCursor: &types.AttributeValueMemberNULL{Value: true}},
	} {
		if _, err := cover(events.Tick{Time: at(1)}, it, job.Spec{}, time.Now()); err == nil {
			t.Errorf("%s that cannot be read is accepted", name)
		}
		if got, err := cover(events.Tick{}, it, job.Spec{}, time.Now()); err != nil || got != (interval{}) {
			t.Errorf("without a tick: %+v, %v", got, err)
		}
	}
}
