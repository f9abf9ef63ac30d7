package lockkit_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// dated serves answers with a date, and refuses a request whose signature is more
// than five minutes off, as the service does.
type dated struct {
	db *locktest.DB

	mu      sync.Mutex
	late    time.Duration // how old the coming answers are when they arrive
	refused int
}

func (x *dated) Do(r *http.Request) (*http.Response, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return nil, err
	}
	if time.Since(signed).Abs() > 5*time.Minute {
		x.refused++
		stop := x.db.Inject(locktest.Fault{Kind: locktest.FaultError, Code: "InvalidSignatureException", Message: "Signature expired"})
		defer stop()
	}
	answer, err := x.db.Do(r)
	if err != nil {
		return nil, err
	}
	answer.Header.Set("Date", time.Now().Add(-x.late).UTC().Format(http.TimeFormat))
	return answer, nil
}

// answersAre makes answers from now on arrive that late.
func (x *dated) answersAre(late time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.late = late
}

func (x *dated) refusals() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refused
}

// A process that was stopped while an answer was on its way reads an old date, and
// the SDK takes its clock for wrong. That costs the next request one try at most.
func TestAnAnswerThatWasHeldForMinutesCostsATry(t *testing.T) {
	for _, c := range []struct {
		name string
		next func(*testing.T, *lockkit.LockTable, *lockkit.Lease)
	}{
		{"acquire", func(t *testing.T, locks *lockkit.LockTable, _ *lockkit.Lease) {
			t.Helper()
			l, err := locks.Acquire(t.Context(), "another", lease)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}},
		{"renewal", func(*testing.T, *lockkit.LockTable, *lockkit.Lease) { time.Sleep(lease/3 + 100*time.Millisecond) }},
		{"transaction", func(t *testing.T, _ *lockkit.LockTable, l *lockkit.Lease) {
			t.Helper()
			if err := l.Transact(t.Context(), count()); err != nil {
				t.Error(err)
			}
		}},
		{"release", func(t *testing.T, _ *lockkit.LockTable, l *lockkit.Lease) {
			t.Helper()
			if err := l.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				x := &dated{db: w.db}
				client := w.db.Client(func(o *dynamodb.Options) { o.HTTPClient = x })
				locks, err := lockkit.New(client, table)
				if err != nil {
					t.Fatal(err)
				}
				l := w.acquire(locks)
				x.answersAre(6 * time.Minute)
				if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String(table), Key: counterKey}); err != nil { // the job's own
					t.Fatal(err)
				}
				x.answersAre(0)
				if d := elapsed(func() { c.next(t, locks, l) }); d > lease/3+100*time.Millisecond {
					t.Errorf("took %s", d)
				}
				if n := x.refusals(); n != 1 {
					t.Errorf("%d requests were refused, want the first after the old date", n)
				}
				if c.name == "release" {
					if st, err := w.process().State(t.Context(), name); err != nil || st.Held {
						t.Errorf("released, and the lock is %+v, %v", st, err)
					}
					return
				}
				time.Sleep(lease)
				if err := l.Err(); err != nil {
					t.Error(err)
				}
				w.release(l)
			})
		})
	}
}
