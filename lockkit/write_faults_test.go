package lockkit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// disturb injects a fault of transactions.
func (w *world) disturb(kind locktest.FaultKind, count int, wait time.Duration) (calm func()) {
	return w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: kind, Count: count, Wait: wait})
}

func (w *world) fail(code string, count int) (calm func()) {
	return w.db.Inject(locktest.Fault{Operation: "TransactWriteItems", Kind: locktest.FaultError, Code: code, Count: count})
}

func TestGuaranteeWriteIsAppliedOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		disturb func(*world)
	}{
		{"nothing", func(*world) {}},
		{"a lost answer", func(w *world) { w.disturb(locktest.FaultDropAnswer, 1, 0) }},
		{"lost answers", func(w *world) { w.disturb(locktest.FaultDropAnswer, 5, 0) }},
		{"failed before", func(w *world) { w.disturb(locktest.FaultFailBefore, 3, 0) }},
		{"conflicts", func(w *world) { w.disturb(locktest.FaultConflict, 4, 0) }},
		{"conflicts after a lost answer", func(w *world) {
			w.disturb(locktest.FaultDropAnswer, 1, 0)
			w.disturb(locktest.FaultConflict, 2, 0)
		}},
		{"a conflict while the first send is on its way", func(w *world) {
			w.disturb(locktest.FaultLate, 1, 75*time.Millisecond)
			w.disturb(locktest.FaultConflict, 1, 0)
		}},
		{"throttled", func(w *world) { w.disturb(locktest.FaultThrottle, 3, 0) }},
		{"in progress", func(w *world) { w.fail("TransactionInProgressException", 3) }},
		{"a black hole", func(w *world) { w.disturb(locktest.FaultBlackHole, 1, 0) }},
		{"a slow answer", func(w *world) { w.disturb(locktest.FaultDelayAnswer, 1, 20*time.Second) }},
		{"late by a second", func(w *world) { w.disturb(locktest.FaultLate, 1, time.Second) }},
		{"late by two leases", func(w *world) { w.disturb(locktest.FaultLate, 1, 2*lease) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				time.Sleep(lease/3 - time.Second) // a renewal comes in the middle of it
				c.disturb(w)
				// Its condition fails once it was applied: only the token tells.
				once := count()
				once.Update.ConditionExpression = aws.String("attribute_not_exists(#n)")
				if err := l.Write(t.Context(), once); err != nil {
					t.Fatal(err)
				}
				time.Sleep(3*lease + time.Second)
				if got := w.counted(); got != "1" || l.Err() != nil {
					t.Errorf("applied %s times, lease %v", got, l.Err())
				}
				w.release(l)
			})
		})
	}
}

// An endpoint that forgets request tokens, as one may that is no DynamoDB: what
// was sent before the loss may have been written, and the loss does not hide it.
func TestWriteLostAfterALostAnswerIsUnknown(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.through(func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
			forgotten := *in
			forgotten.ClientRequestToken = aws.String(rand.Text())
			out, err := w.client.TransactWriteItems(ctx, &forgotten, o...)
			w.plant(holder("other", "v", "99"))
			return out, err
		}))
		w.disturb(locktest.FaultDropAnswer, 1, 0)
		err := l.Write(t.Context(), count())
		if !errors.Is(err, lockkit.ErrUnknownOutcome) || !errors.Is(err, lockkit.ErrLeaseLost) || w.counted() != "1" {
			t.Errorf("got %v, counted %s", err, w.counted())
		}
	})
}

func TestWriteEndsWithTheLease(t *testing.T) {
	for _, c := range []struct {
		kind    locktest.FaultKind
		unknown bool
		counted string
	}{
		{locktest.FaultDropAnswer, true, "1"},
		{locktest.FaultBlackHole, true, "0"},
		{locktest.FaultFailBefore, true, "0"},
		{locktest.FaultConflict, false, "0"},
		{locktest.FaultThrottle, false, "0"},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				w.crash(l)
				w.disturb(c.kind, -1, 0)
				var err error
				waited := elapsed(func() { err = l.Write(t.Context(), count()) })
				if errors.Is(err, lockkit.ErrUnknownOutcome) != c.unknown || !errors.Is(err, lockkit.ErrLeaseLost) || waited > lease || waited < lease*8/10 {
					t.Errorf("got %v after %s, want unknown %v at the lease's end", err, waited, c.unknown)
				}
				if got := w.counted(); got != c.counted {
					t.Errorf("applied %s times", got)
				}
			})
		})
	}
}

var errStop = errors.New("an operator stopped it")

// A ctx that ends between two tries, in one, or while another write is under way.
func TestWriteCutOff(t *testing.T) {
	for _, c := range []struct {
		name    string
		disturb func(*world)
		after   time.Duration
		unknown bool
		counted string
		why     lockkit.Cancellation
	}{
		{"between tries", func(w *world) { w.disturb(locktest.FaultDropAnswer, -1, 0) }, 10 * time.Millisecond, true, "1", lockkit.NotCancelled},
		{"in a later try", func(w *world) {
			w.disturb(locktest.FaultDropAnswer, 1, 0)
			w.disturb(locktest.FaultBlackHole, -1, 0)
		}, 60 * time.Millisecond, true, "1", lockkit.NotCancelled},
		{"in the first try", func(w *world) { w.disturb(locktest.FaultDelayAnswer, -1, lease) }, 2 * time.Second, true, "1", lockkit.NotCancelled},
		{"amid conflicts", func(w *world) { w.disturb(locktest.FaultConflict, -1, 0) }, 2 * time.Second, false, "0", lockkit.CancelledByConflict},
		{"amid conflicts after a lost answer", func(w *world) {
			w.disturb(locktest.FaultDropAnswer, 1, 0)
			w.disturb(locktest.FaultConflict, -1, 0)
		}, 2 * time.Second, true, "1", lockkit.CancelledByConflict},
		{"while throttled", func(w *world) { w.disturb(locktest.FaultThrottle, -1, 0) }, 2 * time.Second, false, "0", lockkit.NotCancelled},
		{"before it began", func(*world) {}, 0, false, "0", lockkit.NotCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				w.db.ResetRequests()
				c.disturb(w)
				ctx, cancel := context.WithTimeoutCause(t.Context(), c.after, errStop)
				defer cancel()
				var err error
				waited := elapsed(func() { err = l.Write(ctx, count()) })
				if errors.Is(err, lockkit.ErrUnknownOutcome) != c.unknown || !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errStop) || waited != c.after {
					t.Errorf("got %v after %s, want unknown %v after %s", err, waited, c.unknown, c.after)
				}
				if got := lockkit.WhyCancelled(err, 0); got != c.why || w.counted() != c.counted || l.Err() != nil {
					t.Errorf("%s, counted %s, lease %v", got, w.counted(), l.Err())
				}
				if c.after == 0 && len(w.db.Requests()) != 0 {
					t.Error("it was sent")
				}
				w.release(l)
			})
		})
	}
}

func TestWriteWaitsForItsTurnWithinItsContext(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.disturb(locktest.FaultDelayAnswer, 1, 3*time.Second)
		wait := background(func() { _ = l.Write(t.Context(), count()) })
		time.Sleep(time.Millisecond)
		for range 2 { // one waits for the lane, and a second would for its turn
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := l.Write(ctx, count()); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lockkit.ErrUnknownOutcome) {
				t.Errorf("got %v", err)
			}
			cancel()
		}
		wait()
		if w.counted() != "1" {
			t.Errorf("counted %s", w.counted())
		}
		w.release(l)
	})
}

// DynamoDB forgets a token after ten minutes and would write the items again.
func TestWriteStopsBeforeItsTokenIsForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l, err := w.process().Acquire(t.Context(), name, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		calm := w.disturb(locktest.FaultDropAnswer, -1, 0)
		waited := elapsed(func() { err = l.Write(t.Context(), count()) })
		if !errors.Is(err, lockkit.ErrUnknownOutcome) || waited < 8*time.Minute || waited > 10*time.Minute || l.Err() != nil || w.counted() != "1" {
			t.Errorf("got %v after %s, counted %s, lease %v", err, waited, w.counted(), l.Err())
		}
		calm()
		// A body that was never without an answer may go on for as long as it likes.
		w.disturb(locktest.FaultConflict, 700, 0)
		waited = elapsed(func() { err = l.Write(t.Context(), count()) })
		if err != nil || waited < 10*time.Minute || w.counted() != "2" {
			t.Errorf("got %v after %s, counted %s", err, waited, w.counted())
		}
		w.release(l)
	})
}

// Answers that say no for good are not asked for again.
func TestWriteReturnsOtherErrorsAtOnce(t *testing.T) {
	for _, code := range []string{"IdempotentParameterMismatchException", "AccessDeniedException", "ValidationException"} {
		for _, lost := range []bool{false, true} {
			inWorld(t, func(w *world) {
				t := w.t
				l := w.acquire(w.process())
				w.db.ResetRequests()
				requests := 1
				if lost {
					w.disturb(locktest.FaultDropAnswer, 1, 0)
					requests = 2
				}
				w.fail(code, -1)
				err := l.Write(t.Context(), count())
				if err == nil || !strings.Contains(err.Error(), code) || errors.Is(err, lockkit.ErrUnknownOutcome) != lost || len(w.db.Requests()) != requests || l.Err() != nil {
					t.Errorf("%s, answer lost before %v: %v after %d requests, lease %v", code, lost, err, len(w.db.Requests()), l.Err())
				}
				w.release(l)
			})
		}
	}
}

// garbler serves a DB and cuts answers to transactions short, once the service
// has carried them out.
type garbler struct {
	db   *locktest.DB
	left int
}

func (g *garbler) Do(r *http.Request) (*http.Response, error) {
	res, err := g.db.Do(r)
	if err == nil && g.left > 0 && strings.HasSuffix(r.Header.Get("X-Amz-Target"), "TransactWriteItems") {
		g.left--
		res.Body = io.NopCloser(strings.NewReader(`{"Consumed`))
		res.Header.Del("X-Amz-Crc32")
	}
	return res, err
}

// An answer that cannot be read is a lost answer: the write was carried out.
func TestWriteWithAnAnswerThatCannotBeRead(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		g := &garbler{db: w.db, left: 2}
		locks, err := lockkit.New(w.db.Client(func(o *dynamodb.Options) { o.HTTPClient = g }), table)
		if err != nil {
			t.Fatal(err)
		}
		l := w.acquire(locks)
		if err := l.Write(t.Context(), count()); err != nil || w.counted() != "1" || g.left != 0 {
			t.Errorf("got %v, counted %s, %d left", err, w.counted(), g.left)
		}
		g.left = 1000
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Write(ctx, count()); !errors.Is(err, lockkit.ErrUnknownOutcome) || w.counted() != "2" {
			t.Errorf("got %v, counted %s", err, w.counted())
		}
		w.release(l)
	})
}

// What never left this process was not written, and there is nothing to find out.
func TestWriteThatIsNeverSent(t *testing.T) {
	errNone := errors.New("no credentials on this machine")
	inWorld(t, func(w *world) {
		t := w.t
		locks, err := lockkit.New(transactions{w.client, w.db.Client(func(o *dynamodb.Options) {
			o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errNone })
		}).TransactWriteItems}, table)
		if err != nil {
			t.Fatal(err)
		}
		l := w.acquire(locks)
		if err := l.Write(t.Context(), count()); !errors.Is(err, errNone) || errors.Is(err, lockkit.ErrUnknownOutcome) {
			t.Errorf("got %v", err)
		}
		if err := l.Write(t.Context(), types.TransactWriteItem{Put: &types.Put{}}); err == nil || errors.Is(err, lockkit.ErrUnknownOutcome) {
			t.Errorf("an incomplete item: %v", err)
		}
		w.release(l)
	})
}

// A wrapper's own failure says nothing, so it is tried again like a lost answer.
func TestWriteThroughAClientThatFailsItself(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		tries := 0
		l := w.acquire(w.through(func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
			if tries++; tries < 4 {
				return nil, errStop
			}
			return w.client.TransactWriteItems(ctx, in, o...)
		}))
		if err := l.Write(t.Context(), count()); err != nil || tries != 4 || w.counted() != "1" {
			t.Errorf("got %v after %d tries, counted %s", err, tries, w.counted())
		}
		w.release(l)
	})
}
