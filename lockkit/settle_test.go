package lockkit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// twice is a client that sends each write two times and returns the second
// answer, as one does whose first answer was lost below lockkit. It knows no
// request tokens.
type twice struct{ *dynamodb.Client }

func (c twice) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	_, _ = c.Client.UpdateItem(ctx, in, o...)
	return c.Client.UpdateItem(ctx, in, o...)
}

func (c twice) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	_, _ = c.Client.TransactWriteItems(ctx, in, o...)
	again := *in
	again.ClientRequestToken = aws.String(rand.Text())
	return c.Client.TransactWriteItems(ctx, &again, o...)
}

func TestEveryWriteRecognisesItself(t *testing.T) {
	for _, opts := range [][]lockkit.AcquireOption{nil, {lockkit.Extend(lockkit.NoExtension{})}} {
		inWorld(t, func(w *world) {
			t := w.t
			locks, err := lockkit.New(twice{w.client}, table)
			if err != nil {
				t.Fatal(err)
			}
			l := w.acquire(locks, opts...)
			if err := l.Renew(t.Context()); err != nil {
				t.Errorf("renew: %v", err)
			}
			if err := l.Transact(t.Context(), count()); err != nil || w.counted() != "1" {
				t.Errorf("transact: %v, counted %s", err, w.counted())
			}
			time.Sleep(2 * lease) // and the heartbeat
			if err := l.Err(); err != nil {
				t.Errorf("lost: %v", err)
			}
			w.release(l)
			if st, err := locks.State(t.Context(), name); err != nil || st.Held || st.Token != l.Token() {
				t.Errorf("after the release: %+v, %v", st, err)
			}
		})
	}
}

// guard is an extension whose condition on renewals does not hold.
type guard struct {
	lockkit.NoExtension
	refusal error
}

func (guard) Add(w lockkit.Write) lockkit.Addition {
	if w.Verb != lockkit.VerbRenew && w.Verb != lockkit.VerbTransact {
		return lockkit.Addition{}
	}
	return lockkit.Addition{Condition: "attribute_exists(#g)", Names: map[string]string{"#g": "guarded"}}
}

func (g guard) Refuse(w lockkit.Write, _ lockkit.Item) error {
	if w.Verb == lockkit.VerbAcquire {
		return nil
	}
	return g.refusal
}

// A renewal that the extension's own condition refused is the extension's to
// explain, and is no loss.
func TestRenewalRefusedByTheExtension(t *testing.T) {
	for _, strip := range []bool{false, true} {
		inWorld(t, func(w *world) {
			t := w.t
			locks := w.process()
			if strip {
				locks = w.stripItems()
			}
			l := w.acquire(locks, lockkit.Extend(guard{refusal: errDone}))
			if err := l.Renew(t.Context()); !errors.Is(err, errDone) || l.Err() != nil {
				t.Errorf("renew: %v, lease %v", err, l.Err())
			}
			if err := l.Transact(t.Context(), count()); !errors.Is(err, errDone) || errors.Is(err, lockkit.ErrUnknownOutcome) || l.Err() != nil || w.counted() != "0" {
				t.Errorf("transact: %v, lease %v, counted %s", err, l.Err(), w.counted())
			}
			w.release(l)
			l = w.acquire(locks, lockkit.Extend(guard{})) // one that cannot say why
			if err := l.Renew(t.Context()); err == nil || !strings.Contains(err.Error(), "DynamoDB refused the write") || l.Err() != nil {
				t.Errorf("renew: %v, lease %v", err, l.Err())
			}
			w.release(l)
		})
	}
}

// The item shows this lease's owner and token under a version that it never
// wrote: somebody meddled, and the lease is over.
func TestAVersionThatIsNotOursEndsTheLease(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.plant(with(w.item(), "rvn", s("meddled")))
		if err := l.Renew(t.Context()); !errors.Is(err, lockkit.ErrLeaseLost) || !strings.Contains(err.Error(), "none that this lease wrote") {
			t.Errorf("got %v", err)
		}
	})
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.process())
		w.plant(with(w.item(), "_type", s("ORDER")))
		w.plant(with(w.item(), "rvn", s("meddled")))
		if err := l.Renew(t.Context()); !errors.Is(err, lockkit.ErrLeaseLost) || !strings.Contains(err.Error(), "not a lock any more") {
			t.Errorf("got %v", err)
		}
	})
}

// A refusal that does not bring the item along and whose read fails decides
// nothing: the heartbeat goes on.
func TestARefusalThatCannotBeRead(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l := w.acquire(w.stripItems(), lockkit.Extend(guard{refusal: errDone}))
		calm := w.db.Inject(locktest.Fault{Operation: "GetItem", Kind: locktest.FaultError, Code: "AccessDeniedException", Count: -1})
		if err := l.Renew(t.Context()); err == nil || !strings.Contains(err.Error(), "AccessDenied") || l.Err() != nil {
			t.Errorf("got %v, lease %v", err, l.Err())
		}
		calm()
		w.release(l)
	})
}

// Calls of the caller's cannot use up the record versions that the heartbeat
// needs to keep the lease.
func TestUnansweredCallsLeaveTheHeartbeatItsVersions(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		l, err := w.process().Acquire(t.Context(), name, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		calm := w.db.Inject(locktest.Fault{Operation: "UpdateItem", Kind: locktest.FaultFailBefore, Count: -1})
		for range 100 {
			err = l.Renew(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), "leave it to the heartbeat") {
			t.Errorf("renew: %v", err)
		}
		if err := l.Transact(t.Context(), count()); err == nil || !strings.Contains(err.Error(), "leave it to the heartbeat") || w.counted() != "0" {
			t.Errorf("transact: %v, counted %s", err, w.counted())
		}
		calm()
		time.Sleep(time.Hour)
		if err := l.Err(); err != nil {
			t.Errorf("the heartbeat could not renew: %v", err)
		}
		if err := l.Renew(t.Context()); err != nil {
			t.Errorf("afterwards: %v", err)
		}
		w.release(l)
	})
}

// What a LockTable remembers of held locks is bounded, and the newest is kept.
func TestMemoryIsBounded(t *testing.T) {
	locks, err := lockkit.New(locktest.New().Client(), table)
	if err != nil {
		t.Fatal(err)
	}
	const seen = 20_000
	remembered, newest := lockkit.Remember(locks, seen)
	if remembered < 1000 || remembered >= seen || !newest {
		t.Errorf("%d of %d locks are remembered, the newest among them: %v", remembered, seen, newest)
	}
}

func TestErrorsAndVerbsInWords(t *testing.T) {
	for got, want := range map[string]string{
		(&lockkit.HeldError{Lock: "a", Table: "t", Token: 5, Lease: time.Second, Alive: true}).Error(): `lock "a" in table "t" is held by a holder without a label, which is alive (token 5, lease 1s)`,
		(&lockkit.HeldError{Lock: "a", Table: "t", Holder: "pod-1"}).Error():                           `is held by "pod-1" (token`,
		(&lockkit.ElectionError{Lock: "a", Table: "t", Err: errDone}).Error():                          `election on "a" in table "t": ` + errDone.Error(),
		lockkit.VerbAcquire.String() + lockkit.VerbRenew.String():                                      "acquirerenew",
		lockkit.VerbRelease.String() + lockkit.VerbTransact.String():                                   "releasetransact",
		lockkit.Verb(9).String(): "verb(9)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q, want %q in it", got, want)
		}
	}
}
