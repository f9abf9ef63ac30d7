package singleton_test

import (
	"context"
	"testing"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit/singleton"
)

// TestGuaranteeIntervalsAreSeamless runs, skips, fails and re-runs ticks: the
// intervals of the runs that completed follow each other without hole or overlap.
func TestGuaranteeIntervalsAreSeamless(t *testing.T) {
	inWorld(t, func(w *world) {
		j := spec
		j.ExpectedInterval = time.Hour
		p := w.process("a")
		end := w.due.Add(-3 * time.Hour) // where the first run begins
		for i, how := range []string{"done", "fails", "skipped", "done", "crashes", "done", "done", "no tick", "done"} {
			tick := w.scheduled(time.Duration(i) * time.Hour)
			var got singleton.Run
			work := func(_ context.Context, run *singleton.Run) error {
				got.Tick, got.Since = run.Tick, run.Since
				if how == "fails" {
					return errBoom
				}
				return nil
			}
			switch how {
			case "skipped":
			case "crashes":
				w.crash("b", j, tick)
			case "no tick":
				_, _ = w.invoke(p, j, events.Tick{}, work)
				if !got.Since.IsZero() {
					t.Errorf("a run without a tick got since %v", got.Since)
				}
			default:
				res, _ := w.invoke(p, j, tick, work)
				if !got.Since.Equal(end) || !res.Since.Equal(end) || !got.Tick.Equal(tick.Time) || res.Gap != nil {
					t.Errorf("tick %d got (%v, %v], want since %v; %+v", i, got.Since, got.Tick, end, res)
				}
				if how == "done" {
					end = tick.Time
				}
			}
			time.Sleep(time.Hour - time.Since(w.due.Add(time.Second+time.Duration(i)*time.Hour)))
		}
	})
}

func TestIntervalBeyondTheCatchUpLimitLeavesAGapThatIsTold(t *testing.T) {
	inWorld(t, func(w *world) {
		j := spec
		j.CatchUp = 2 * time.Hour
		p := w.process("a")
		_, _ = w.invoke(p, j, w.scheduled(0), does(0))
		time.Sleep(24 * time.Hour)
		var log lines
		res, err := w.invoke(p, j, w.scheduled(24*time.Hour), does(0), log.option())
		w.want(res, err, singleton.Completed)
		want := singleton.Gap{From: w.due, To: w.due.Add(22 * time.Hour)}
		if res.Gap == nil || *res.Gap != want || !res.Since.Equal(want.To) {
			t.Errorf("%+v", res)
		}
		line, fields := log.one(t), asJSON(t, res)
		sameFacts(t, line, fields)
		if gap, _ := line["gap"].(map[string]any); line["level"] != "WARN" || gap["from"] != want.From.Format(time.RFC3339) || gap["to"] != want.To.Format(time.RFC3339) {
			t.Errorf("line %v", line)
		}
	})
}
