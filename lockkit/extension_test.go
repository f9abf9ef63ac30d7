package lockkit_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

var errDone, errPending = errors.New("tick is done"), errors.New("a tick is pending")

// ticker is a small runner: it refuses an acquire for a tick that is done, marks
// the tick in its release, and does not release while another one is pending.
type ticker struct {
	lockkit.NoExtension
	tick    string
	calls   []string // the verbs it was handed results of
	images  []lockkit.Item
	refused int
}

func (e *ticker) Add(w lockkit.Write) lockkit.Addition {
	switch w.Verb {
	case lockkit.VerbAcquire:
		return lockkit.Addition{
			Condition: "attribute_not_exists(#tick) OR #tick < :tick",
			Set:       []string{"#prev = if_not_exists(#run, if_not_exists(#prev, :none))", "#run = :run"},
			Remove:    []string{"#stop"},
			Names:     map[string]string{"#tick": lockkit.AttrTick, "#run": lockkit.AttrRun, "#prev": lockkit.AttrPrev, "#stop": lockkit.AttrStop},
			Values: map[string]types.AttributeValue{
				":tick": n(e.tick), ":none": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}},
				":run": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"owner": s(w.Owner)}},
			},
		}
	case lockkit.VerbRelease:
		return lockkit.Addition{
			Condition: "attribute_not_exists(#pending)",
			Set:       []string{"#tick = :tick", "#prev = #run"},
			Remove:    []string{"#run"},
			Names:     map[string]string{"#tick": lockkit.AttrTick, "#run": lockkit.AttrRun, "#prev": lockkit.AttrPrev, "#pending": lockkit.AttrPending},
			Values:    map[string]types.AttributeValue{":tick": n(e.tick)},
		}
	default:
		return lockkit.Addition{}
	}
}

func (e *ticker) Refuse(w lockkit.Write, item lockkit.Item) error {
	e.refused++
	if _, pending := item[lockkit.AttrPending]; pending && w.Verb == lockkit.VerbRelease {
		return errPending
	}
	if v, ok := item[lockkit.AttrTick].(*types.AttributeValueMemberN); ok && w.Verb == lockkit.VerbAcquire && v.Value >= e.tick {
		return errDone
	}
	return nil
}

func (e *ticker) Wrote(w lockkit.Write, item lockkit.Item) {
	e.calls = append(e.calls, w.Verb.String())
	e.images = append(e.images, item)
}

func (e *ticker) Landed(w lockkit.Write, item lockkit.Item) bool {
	prev, ok := item[lockkit.AttrPrev].(*types.AttributeValueMemberM)
	if !ok {
		return false
	}
	owner, ok := prev.Value["owner"].(*types.AttributeValueMemberS)
	return ok && owner.Value == w.Owner
}

func TestExtensionRidesOnTheLeasesWrites(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		e := &ticker{tick: "100"}
		var sent atomic.Int64
		l := w.acquire(w.process(), lockkit.Extend(e), lockkit.CountRequests(&sent))
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.release(l)
		if got := w.counts(); got != (counts{writes: 3}) || sent.Load() != 3 {
			t.Errorf("%+v and %d counted, want 3 writes in all", got, sent.Load())
		}
		if got := strings.Join(e.calls, " "); got != "acquire renew release" {
			t.Errorf("handed the results of %s", got)
		}
		if e.images[0] != nil {
			t.Error("the acquire of a new item has an image")
		}
		if _, ok := e.images[1][lockkit.AttrRun]; !ok {
			t.Error("the renewal's image is not the item after it")
		}
		if got := attributes(w.item()); got != "_type fence pk prev rvn sk tick" {
			t.Errorf("the item has %s", got)
		}

		// The same tick again: one refused write says so.
		w.db.ResetRequests()
		_, err := w.process().Acquire(t.Context(), name, lease, lockkit.Extend(&ticker{tick: "100"}))
		if !errors.Is(err, errDone) || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want the extension's refusal with the lock's name", err)
		}
		if got := w.counts(); got != (counts{refused: 1}) {
			t.Errorf("%+v, want 1 refused write", got)
		}
	})
}

// What the extension refuses comes before "held", and is asked at every look.
func TestExtensionRefusesAtALook(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		first := w.acquire(w.process(), lockkit.Extend(&ticker{tick: "200"}))
		var err error
		wait := background(func() {
			_, err = w.process().Acquire(t.Context(), name, lease, lockkit.Extend(&ticker{tick: "200"}))
		})
		time.Sleep(5*lease + time.Second)
		w.release(first)
		wait()
		if !errors.Is(err, errDone) {
			t.Errorf("got %v", err)
		}
		item := w.item()
		item["owner"], item["leaseMs"] = s("other"), n("30000")
		w.plant(item)
		if _, err := w.process().TryAcquire(t.Context(), name, lease, lockkit.Extend(&ticker{tick: "200"})); !errors.Is(err, errDone) {
			t.Errorf("a held lock with a done tick: %v", err)
		}
	})
}

func TestReleaseRefusedByTheExtensionGoesOn(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process(), lockkit.Extend(&ticker{tick: "300"}))
		w.plant(with(w.item(), lockkit.AttrPending, n("301")))
		if err := l.Release(t.Context()); !errors.Is(err, errPending) {
			t.Fatalf("got %v, want the extension's refusal", err)
		}
		if err := l.Err(); err != nil {
			t.Fatalf("the lease ended: %v", err)
		}
		time.Sleep(4*lease + time.Second) // its heartbeat goes on
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
		item := w.item()
		delete(item, lockkit.AttrPending)
		w.plant(item)
		w.release(l)
	})
}

func TestReleaseWithAnExtensionAndALostAnswer(t *testing.T) {
	for _, quick := range []bool{false, true} {
		inWorld(t, func(w *world) {
			l := w.acquire(w.process(), lockkit.Extend(&ticker{tick: "400"}))
			w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer})
			if quick { // a successor is there before the second try
				wait := background(func() {
					time.Sleep(time.Millisecond)
					next := w.acquire(w.process(), lockkit.Extend(&ticker{tick: "401"}))
					time.Sleep(time.Second)
					w.release(next)
				})
				defer wait()
			}
			w.release(l)
		})
	}
}

func TestAcquireWithAnExtensionAndALostAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultDropAnswer})
		e := &ticker{tick: "500"}
		l := w.acquire(w.process(), lockkit.Extend(e))
		if owner := e.images[0]["owner"].(*types.AttributeValueMemberS).Value; owner != l.Owner() {
			t.Errorf("handed an image of owner %s, want this acquire's", owner)
		}
		w.release(l)
	})
}

// rude adds something that must not be, or cannot be explained.
type rude struct {
	lockkit.NoExtension
	add lockkit.Addition
}

func (e rude) Add(lockkit.Write) lockkit.Addition { return e.add }

func TestExtensionMistakesAreNamed(t *testing.T) {
	for _, c := range []struct {
		name string
		add  lockkit.Addition
		want string
	}{
		{"our alias", lockkit.Addition{Names: map[string]string{"#lko": "x"}}, `"#lko"`},
		{"no alias", lockkit.Addition{Names: map[string]string{"tick": "tick"}}, `"tick"`},
		{"our placeholder", lockkit.Addition{Values: map[string]types.AttributeValue{":lko": n("1")}}, `":lko"`},
		{"a condition that Refuse does not explain", lockkit.Addition{
			Condition: "#a = :a", Names: map[string]string{"#a": "a"}, Values: map[string]types.AttributeValue{":a": n("1")},
		}, "Refuse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				_, err := w.process().Acquire(t.Context(), name, lease, lockkit.Extend(rude{add: c.add}))
				_, tryErr := w.process().TryAcquire(t.Context(), name, lease, lockkit.Extend(rude{add: c.add}))
				for _, err := range []error{err, tryErr} {
					if err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("got %v, want an error with %s", err, c.want)
					}
				}
			})
		})
	}
}
