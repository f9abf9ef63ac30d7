package singleton

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton/internal/wire"
)

// supersede asks the run of an older tick to stop, and then contends for as long
// as there is time: the newer interval covers what the older run leaves undone. A
// holder that may not be asked is watched as skipWhenAlive does. It must not be
// the run of this tick or a newer one, nor one without a tick, nor another client,
// which would not notice; and not a run whose predecessor was stopped: under a
// steady overlap every run would be stopped by the next, and none would complete.
type supersede struct {
	skipWhenAlive
	a     *attempt
	asked string // owner id of the newest holder that was asked
	newer bool   // the holder of the newest look runs a newer tick
	err   error  // of the newest request that had no answer
}

func (p *supersede) looks(ctx context.Context, s lockkit.Sighting) bool {
	alive := p.skipWhenAlive.looks(ctx, s)
	run, ours := holderRun(s)
	p.newer = ours && run.Tick.After(p.tick.Time)
	switch {
	case s.Owner == p.asked:
		return false
	case p.may(s):
		p.ask(ctx, s)
		return false
	case p.same, p.newer:
		return alive
	default:
		// Who has asked a run to stop must see to it that another runs.
		return alive && p.asked == ""
	}
}

// may reports whether the holder may be asked to stop, as far as this look shows.
// Who ran before it does not change while it holds the lock.
func (p *supersede) may(s lockkit.Sighting) bool {
	run, ours := holderRun(s)
	before, _ := wire.ReadRecord(s.Item[lockkit.AttrPrev])
	return ours && !p.tick.Time.IsZero() && !run.Tick.IsZero() && run.Tick.Before(p.tick.Time) && before.Outcome != string(Stopped)
}

func (p *supersede) ask(ctx context.Context, s lockkit.Sighting) {
	refused, err := p.a.ask(ctx, s, lockkit.Addition{
		Condition: "#run.#t < :tick AND (attribute_not_exists(#stop.#token) OR #stop.#token <> :token)",
		Set:       []string{"#stop = :stop"},
		Names: map[string]string{
			"#run": lockkit.AttrRun, "#t": wire.KeyRunTick, "#stop": lockkit.AttrStop, "#token": wire.KeyToken,
		},
		Values: map[string]types.AttributeValue{
			":tick": wire.Number(p.tick.Time.UnixMilli()), ":stop": wire.Stop{Token: s.Token, Tick: p.tick.Time}.Value(),
		},
	})
	p.err = err
	stop, _ := wire.ReadStop(refused[lockkit.AttrStop])
	if err == nil && (refused == nil || stop.Token == s.Token) { // by this run or another
		p.asked = s.Owner
	}
	// Otherwise the item has changed, or no answer came: the next look decides anew.
}

// patient: a run that must stop first is waited for.
func (p *supersede) patient() bool { return true }

func (p *supersede) without() Outcome {
	covered := p.alive && (p.same || p.newer)
	if p.asked != "" && !covered {
		return OutOfTime // or nobody would run
	}
	return p.skipWhenAlive.without()
}

func (p *supersede) why() error {
	if p.err != nil {
		return fmt.Errorf("an older run was to be asked to stop: %w", p.err)
	}
	return fmt.Errorf("an older run was asked to stop, and the lock did not come free in time: the work must return soon after its context has ended")
}
