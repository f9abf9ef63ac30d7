package lockkit_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
)

// spoiler is an HTTP client that spoils answers on their way back.
type spoiler struct {
	next dynamodb.HTTPClient

	mu    sync.Mutex
	spoil func(operation string, answer *http.Response)
}

// spoils returns a client of the world's table whose answers go through a spoiler.
func (w *world) spoils() (*spoiler, *dynamodb.Client) {
	x := &spoiler{next: w.db}
	return x, w.db.Client(func(o *dynamodb.Options) { o.HTTPClient = x })
}

func (x *spoiler) set(f func(operation string, answer *http.Response)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.spoil = f
}

// times spoils the next n answers to an operation.
func (x *spoiler) times(n int, operation string, f func(*http.Response)) {
	x.set(func(op string, answer *http.Response) {
		if op == operation && n > 0 {
			n--
			f(answer)
		}
	})
}

func (x *spoiler) Do(r *http.Request) (*http.Response, error) {
	answer, err := x.next.Do(r)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.spoil != nil {
		x.spoil(operation, answer)
	}
	return answer, nil
}

func (x *spoiler) process(t *testing.T, client *dynamodb.Client) *lockkit.LockTable {
	t.Helper()
	locks, err := lockkit.New(client, table)
	if err != nil {
		t.Fatal(err)
	}
	return locks
}

// An answer that cannot be read says nothing: what it answers may have been
// applied, as with one that never came.
func TestAnUnreadableAnswerIsALostOne(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*http.Response)
	}{
		{"broken off at once", func(a *http.Response) { a.Body = io.NopCloser(brokenReader{}) }},
		{"broken off in the middle", func(a *http.Response) {
			a.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"Attr`), brokenReader{}))
		}},
		{"a page of a proxy's", func(a *http.Response) {
			a.StatusCode, a.Header = http.StatusForbidden, http.Header{"Content-Type": {"text/html"}}
			a.Body = io.NopCloser(strings.NewReader("<html>come back later</html>"))
		}},
		{"a page that claims to be an answer", func(a *http.Response) {
			a.StatusCode, a.Body = http.StatusOK, io.NopCloser(bytes.NewReader([]byte("<html>")))
			a.Header.Del("X-Amz-Crc32")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				t := w.t
				x, client := w.spoils()
				locks := x.process(t, client)

				x.times(2, "UpdateItem", c.spoil)
				l := w.acquire(locks)
				if o := w.item()["owner"]; o == nil || l.Err() != nil {
					t.Errorf("acquired, and the owner is %v: %v", o, l.Err())
				}
				x.times(3, "TransactWriteItems", c.spoil)
				if err := l.Transact(t.Context(), count()); err != nil {
					t.Errorf("transact: %v", err)
				}
				if got := w.counted(); got != "1" {
					t.Errorf("the transaction was applied %s times", got)
				}
				x.times(3, "UpdateItem", c.spoil)
				time.Sleep(2 * lease)
				if err := l.Err(); err != nil {
					t.Errorf("renewals: %v", err)
				}
				x.times(2, "UpdateItem", c.spoil)
				w.release(l)
				if o := w.item()["owner"]; o != nil {
					t.Errorf("released, and the owner is %v", o)
				}

				x.times(3, "GetItem", c.spoil)
				if st, err := locks.State(t.Context(), name); err != nil || st.Held {
					t.Errorf("state %+v, %v", st, err)
				}
			})
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
