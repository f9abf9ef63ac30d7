package singleton_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit/singleton"
)

// Here are the guarantees about every way in which a run can end; the other
// guarantees have their tests beside those of the same concept.

// ends are runs whose work does not complete the tick, each in its own way.
var ends = map[string]func(w *world){
	"error": func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error { return errBoom })
		w.want(res, err, singleton.Failed)
	},
	"panic": func(w *world) {
		defer func() {
			if recover() == nil {
				w.Error("the panic did not go on")
			}
		}()
		_, _ = w.invoke(w.process("a"), spec, w.scheduled(0), func(context.Context, *singleton.Run) error { panic("boom") })
	},
	"out of time": func(w *world) {
		res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error { <-ctx.Done(); return ctx.Err() })
		w.want(res, err, singleton.OutOfTime)
	},
}

func TestGuaranteeAtLeastOnce(t *testing.T) {
	first := map[string]func(w *world){
		"crash": func(w *world) { w.crash("a", spec, w.scheduled(0)) },
		"taken over": func(w *world) {
			res, err := w.invoke(w.process("a"), spec, w.scheduled(0), func(ctx context.Context, _ *singleton.Run) error {
				w.foreign(spec.Lease)
				<-ctx.Done()
				return nil
			})
			w.want(res, err, singleton.Lost)
		},
		"never begun": func(w *world) {
			w.foreign(24 * time.Hour)
			res, err := w.invoke(w.process("a"), spec, w.scheduled(0), mustNotRun(t))
			w.want(res, err, singleton.Blocked)
			w.foreign(spec.Lease)
		},
	}
	maps.Copy(first, ends)
	for name, end := range first {
		for covered, by := range map[string]time.Duration{"delivered again": 0, "covered by a later tick": time.Minute} {
			t.Run(name+", "+covered, func(t *testing.T) {
				inWorld(t, func(w *world) {
					end(w)
					calls := 0
					res, err := w.invoke(w.process("b"), spec, w.scheduled(by), func(context.Context, *singleton.Run) error { calls++; return nil })
					w.want(res, err, singleton.Completed)
					if calls != 1 || !w.doneTick().Equal(w.due.Add(by)) {
						t.Errorf("%d calls, done %v", calls, w.doneTick())
					}
				})
			})
		}
	}
}

func TestGuaranteeLeaseEndsWithTheHandler(t *testing.T) {
	all := map[string]func(w *world){
		"completed": func(w *world) {
			res, err := w.invoke(w.process("a"), spec, w.scheduled(0), does(time.Minute))
			w.want(res, err, singleton.Completed)
		},
	}
	maps.Copy(all, ends)
	for name, end := range all {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				end(w)
				if w.held() {
					t.Errorf("still held: %v", w.item())
				}
				w.db.ResetRequests()
				res, err := w.invoke(w.process("b"), spec, w.scheduled(time.Minute), does(0))
				w.want(res, err, singleton.Completed)
				w.requests("WW") // free at once: no wait, and nobody renews any more
				if res.WaitedMS != 0 || res.Takeover != nil {
					t.Errorf("%+v", res)
				}
			})
		})
	}
}
