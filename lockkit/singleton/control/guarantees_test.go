package control_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/control"
)

// seen is every control that acts on what was seen, done to a state and a pause.
var seen = map[string]func(w *world, was control.State, p control.Pause) error{
	"resume": func(w *world, _ control.State, p control.Pause) error {
		return w.ctl.Resume(w.Context(), report.Name, p.ID)
	},
	"replacing the pause": func(w *world, _ control.State, p control.Pause) error {
		_, err := w.ctl.Replace(w.Context(), report.Name, p.ID, rest)
		return err
	},
	"stop": func(w *world, was control.State, _ control.Pause) error {
		return w.ctl.Stop(w.Context(), report.Name, was.Token, "jane")
	},
	"release": func(w *world, was control.State, _ control.Pause) error {
		return w.ctl.Release(w.Context(), was, "jane", "the host is gone")
	},
}

func TestGuaranteeControlsActOnWhatWasSeen(t *testing.T) {
	meanwhile := map[string]func(w *world, p control.Pause){
		"another holder, another pause": func(w *world, p control.Pause) {
			w.dead(time.Minute)
			if _, err := w.ctl.Replace(w.Context(), report.Name, p.ID, control.Pause{By: "joe", Why: "his own reason"}); err != nil {
				w.Fatal(err)
			}
		},
		"free and resumed": func(w *world, p control.Pause) {
			if err := errors.Join(locktest.SimulateRelease(w.Context(), w.db.Client(), table, report.Name), w.ctl.Resume(w.Context(), report.Name, p.ID)); err != nil {
				w.Fatal(err)
			}
		},
		"no item": func(w *world, _ control.Pause) {
			if err := locktest.SimulateDelete(w.Context(), w.db.Client(), table, report.Name); err != nil {
				w.Fatal(err)
			}
		},
	}
	for name, do := range seen {
		for what, change := range meanwhile {
			t.Run(name+", "+what, func(t *testing.T) {
				inWorld(t, func(w *world) {
					was := w.dead(time.Minute)
					p := w.pause(rest)
					change(w, p)
					before := w.item()
					w.db.ResetRequests()
					err := do(w, was, p)
					changed, ok := errors.AsType[*control.ChangedError](err)
					if !ok || !errors.Is(err, control.ErrChanged) || changed.Op != name || !strings.HasPrefix(changed.Want, "the ") {
						t.Fatalf("got %v (%+v)", err, changed)
					}
					if now := w.look(); !reflect.DeepEqual(changed.Now, now) {
						t.Errorf("the error shows %+v, the item %+v", changed.Now, now)
					}
					if after := w.item(); !reflect.DeepEqual(before, after) {
						t.Errorf("the item was changed: %v, before %v", after, before)
					}
				})
			})
		}
	}
}

func TestGuaranteePauseOfAJobThatNeverRan(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.pause(rest)
		w.requests("W")
		if it := w.item(); it["expires"] != nil || it["owner"] != nil || it["rvn"] != nil {
			t.Errorf("item %v", it)
		}
		time.Sleep(time.Hour)
		if res := w.run(0, nothing); res.Outcome != singleton.Paused || res.Paused == nil || *res.Paused != singleton.Pause(p) {
			t.Fatalf("%+v, paused %+v, want %+v", res, res.Paused, p)
		}
		if err := w.ctl.Resume(w.Context(), report.Name, p.ID); err != nil {
			t.Fatal(err)
		}
		// The token goes on from the wall clock, as that of a new item does.
		if res := w.run(0, nothing); res.Outcome != singleton.Completed || res.Token != p.At.UnixMilli()+1 {
			t.Errorf("%+v", res)
		}
	}, lockkit.WithTTL("expires", 0))
}

func TestGuaranteePauseFencesNobodyOff(t *testing.T) {
	inWorld(t, func(w *world) {
		was, result := w.hold()
		p := w.pause(rest)
		w.requests("W")
		if now := w.look(); now.Token != was.Token || now.Owner != was.Owner || *now.Paused != p {
			t.Errorf("%+v", now)
		}
		time.Sleep(2 * report.Lease)
		if now := w.look(); now.Owner != was.Owner || *now.Paused != p {
			t.Errorf("the holder lost its lease: %+v", now)
		}
		<-result
	})
}

func TestGuaranteeForeignItemIsLeftAlone(t *testing.T) {
	for name, item := range map[string]lockkit.Item{
		"another type": {"_type": s("ORDER"), "owner": s("o"), "fence": n("7"), "paused": m(lockkit.Item{"id": s("p1")})},
		"no type":      {"total": n("3")},
		"odd owner":    {"_type": s("LOCK"), "owner": n("1"), "fence": n("7")},
	} {
		for what, do := range map[string]func(w *world) error{
			"pause": func(w *world) error {
				_, err := w.ctl.Pause(w.Context(), report.Name, rest)
				return err
			},
			"look": func(w *world) error { _, err := w.ctl.Look(w.Context(), report.Name); return err },
			"resume": func(w *world) error {
				return w.ctl.Resume(w.Context(), report.Name, "p1")
			},
			"release": func(w *world) error {
				return w.ctl.Release(w.Context(), control.State{Job: report.Name, Table: table, Owner: "o", Token: 7}, "jane", "why")
			},
			"stop": func(w *world) error { return w.ctl.Stop(w.Context(), report.Name, 7, "jane") },
		} {
			if name == "odd owner" && what == "pause" {
				continue // it is a lock of which nobody can tell how long it is held, and may rest
			}
			t.Run(what+" of "+name, func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.put(item)
					before := w.item()
					if err := do(w); !errors.Is(err, lockkit.ErrNotALock) || !strings.Contains(err.Error(), report.Name) {
						t.Errorf("got %v", err)
					}
					if after := w.item(); !reflect.DeepEqual(before, after) {
						t.Errorf("the item was changed: %v", after)
					}
				})
			})
		}
	}
}

// Whoever watches a dead holder takes over as if nobody had touched the item.
func TestGuaranteeControlsAreNoSignOfLife(t *testing.T) {
	inWorld(t, func(w *world) {
		was := w.dead(report.Lease)
		w.put(func() lockkit.Item { // a run's, so that it may be asked to stop
			it := w.item()
			it["run"] = m(lockkit.Item{"owner": it["owner"]})
			return it
		}())
		go func() {
			time.Sleep(5 * time.Second)
			p := w.pause(control.Pause{By: "jane", Why: "a", Until: time.Now().Add(time.Second)})
			if err := errors.Join(w.ctl.Stop(w.Context(), report.Name, was.Token, "jane"), w.ctl.Resume(w.Context(), report.Name, p.ID)); err != nil {
				t.Error(err)
			}
		}()
		begin := time.Now()
		res := w.run(0, nothing)
		if waited := time.Since(begin); res.Outcome != singleton.Completed || res.Takeover == nil || waited < report.Lease || waited > report.Lease+time.Second {
			t.Errorf("after %s: %+v", waited, res)
		}
	})
}

func TestGuaranteeLostAnswerIsNoFailure(t *testing.T) {
	for name, do := range map[string]func(w *world, was control.State) error{
		"pause": func(w *world, _ control.State) error {
			p, err := w.ctl.Pause(w.Context(), report.Name, rest)
			if now := w.look(); err == nil && *now.Paused != p {
				w.Errorf("returned %+v, and %+v is there", p, now.Paused)
			}
			return err
		},
		"stop": func(w *world, was control.State) error {
			return w.ctl.Stop(w.Context(), report.Name, was.Token, "jane")
		},
		"release": func(w *world, was control.State) error {
			return w.ctl.Release(w.Context(), was, "jane", "the host is gone")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				was, _ := w.hold()
				w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer})
				if err := do(w, was); err != nil {
					t.Error(err)
				}
				time.Sleep(report.Timeout)
			})
		})
	}
	for name, do := range map[string]func(w *world, p control.Pause) error{
		"resume": func(w *world, p control.Pause) error { return w.ctl.Resume(w.Context(), report.Name, p.ID) },
		"replace": func(w *world, p control.Pause) error {
			_, err := w.ctl.Replace(w.Context(), report.Name, p.ID, rest)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.pause(rest)
				w.db.ResetRequests()
				w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer})
				if err := do(w, p); err != nil {
					t.Error(err)
				}
				if got := len(w.db.Requests()); got != 2 {
					t.Errorf("%d requests, want the one whose answer was lost and the one that is refused", got)
				}
			})
		})
	}
}
