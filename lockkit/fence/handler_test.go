package fence_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/lockkit/fence"
)

func tokenOf(r *http.Request) int64 {
	token, err := strconv.ParseInt(r.Header.Get(fence.Header), 10, 64)
	if err != nil {
		panic(err)
	}
	return token
}

// durationOf reads the body of a test's request: how long its effect takes.
func durationOf(r *http.Request) time.Duration {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	d, err := time.ParseDuration(string(text))
	if err != nil {
		panic(err)
	}
	return d
}

// put sends one write to h with the header's values as they are given.
func put(t *testing.T, h http.Handler, body string, tokens ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/cache/a", strings.NewReader(body))
	r.Header[fence.Header] = tokens
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// echo answers with what it was sent and counts its calls.
func echo(calls *int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*calls++
		w.Header().Set("X-Kind", "echo")
		w.WriteHeader(http.StatusCreated)
		w.WriteHeader(http.StatusTeapot) // too late, as with net/http
		w.Header().Set("X-Late", "no")
		_, _ = io.Copy(w, r.Body)
	})
}

func TestGuaranteeBadHeadersAreRefused(t *testing.T) {
	calls := 0
	store := &fence.MemoryStore{}
	h := fence.Handler(store, echo(&calls))
	for _, bad := range [][]string{
		nil,
		{""},
		{" "},
		{"x"},
		{"-1"},
		{"+1"},
		{"0"},
		{"-0"},
		{"1.0"},
		{"1e3"},
		{"0x10"},
		{"1_000"},
		{"1,2"},
		{"1 2"},
		{"٣"}, // digits, of another script
		{"9223372036854775808"},
		{"-9223372036854775808"},
		{"99999999999999999999999999"},
		{"5", "5"},
		{"5", "6"},
	} {
		w := put(t, h, "new", bad...)
		text := w.Body.String()
		if w.Code != http.StatusBadRequest || !strings.Contains(text, "expected one value") || !strings.Contains(text, "1 to 9223372036854775807") {
			t.Errorf("%q: status %d, %s", bad, w.Code, text)
		}
		if len(bad) == 1 && !strings.Contains(text, strconv.Quote(bad[0])) {
			t.Errorf("%q is not named in: %s", bad[0], text)
		}
	}
	if w := put(t, h, "new", strings.Repeat("9", 100_000)); w.Code != http.StatusBadRequest || w.Body.Len() > 500 {
		t.Errorf("a very long header: status %d, %d bytes", w.Code, w.Body.Len())
	}
	if calls != 0 || store.Highest("/cache/a") != 0 {
		t.Errorf("%d effects, highest %d, expected none", calls, store.Highest("/cache/a"))
	}
}

func TestHandlerRefusesLowerTokens(t *testing.T) {
	calls := 0
	h := fence.Handler(&fence.MemoryStore{}, echo(&calls))
	for _, step := range []struct {
		token, highest int64 // highest 0: let through
	}{{5, 0}, {5, 0}, {7, 0}, {6, 7}, {7, 0}, {exact, 0}, {exact - 1, exact}, {greatest, 0}, {greatest - 1, greatest}, {1, greatest}} {
		w := put(t, h, "new", strconv.FormatInt(step.token, 10))
		if step.highest == 0 {
			if w.Code != http.StatusCreated || w.Body.String() != "new" || w.Header().Get("X-Kind") != "echo" || w.Header().Get("X-Late") != "" {
				t.Errorf("token %d: status %d, %s, %v", step.token, w.Code, w.Body, w.Header())
			}
			continue
		}
		highest := strconv.FormatInt(step.highest, 10)
		if w.Code != http.StatusPreconditionFailed || w.Header().Get(fence.Header) != highest || !strings.Contains(w.Body.String(), highest) {
			t.Errorf("token %d: status %d, highest %q, %s", step.token, w.Code, w.Header().Get(fence.Header), w.Body)
		}
	}
	if calls != 6 {
		t.Errorf("%d effects, expected 6", calls)
	}
}

func TestResourcesHaveMarksOfTheirOwn(t *testing.T) {
	calls := 0
	store := &fence.MemoryStore{}
	h := fence.Handler(store, echo(&calls), fence.ResourceBy(func(r *http.Request) string { return r.Header.Get("X-Name") }))
	for _, w := range []struct{ name, token string }{{"a", "9"}, {"b", "3"}} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", http.NoBody)
		r.Header.Set(fence.Header, w.token)
		r.Header.Set("X-Name", w.name)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if calls != 2 || store.Highest("a") != 9 || store.Highest("b") != 3 {
		t.Errorf("%d effects, a %d, b %d", calls, store.Highest("a"), store.Highest("b"))
	}
}

func TestBodiesAreBounded(t *testing.T) {
	calls := 0
	h := fence.Handler(&fence.MemoryStore{}, echo(&calls), fence.MaxBody(3))
	if w := put(t, h, "abc", "1"); w.Code != http.StatusCreated || w.Body.String() != "abc" {
		t.Errorf("a body of 3 bytes: status %d, %s", w.Code, w.Body)
	}
	if w := put(t, h, "abcd", "1"); w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "3 bytes") {
		t.Errorf("a body of 4 bytes: status %d, %s", w.Code, w.Body)
	}
	if calls != 1 {
		t.Errorf("%d effects, expected 1", calls)
	}
}

// A client that dies in the middle of its request has written nothing, and holds
// nobody up while it is silent.
func TestGuaranteeACutOffRequestHasNoEffect(t *testing.T) {
	calls := 0
	store := &fence.MemoryStore{}
	server := httptest.NewServer(fence.Handler(store, echo(&calls)))
	defer server.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "PUT /cache/a HTTP/1.1\r\nHost: x\r\n%s: 5\r\nContent-Length: 10\r\n\r\nhalf", fence.Header)

	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/cache/a", strings.NewReader("whole"))
	fence.SetToken(r, 6)
	resp, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Fatalf("beside a silent client: status %d", resp.StatusCode)
	}

	_ = conn.(*net.TCPConn).CloseWrite()
	refused, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = refused.Body.Close()
	_ = conn.Close()
	if refused.StatusCode != http.StatusBadRequest || calls != 1 || store.Highest("/cache/a") != 6 {
		t.Errorf("status %d, %d effects, highest %d; expected 400, 1 and 6", refused.StatusCode, calls, store.Highest("/cache/a"))
	}
}

// broken is a store that fails as told, after the effect.
type broken struct{ err error }

func (b broken) Do(ctx context.Context, _ string, _ int64, effect func(context.Context) error) error {
	return errors.Join(effect(ctx), b.err)
}

// The answer of a handler reaches the client only if the store succeeded: a
// commit may fail after it.
func TestNoAnswerBeforeTheStoreHasSucceeded(t *testing.T) {
	calls := 0
	var log bytes.Buffer
	h := fence.Handler(broken{errors.New("commit failed")}, echo(&calls), fence.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	w := put(t, h, "new", "5")
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("X-Kind") != "" || strings.Contains(w.Body.String(), "commit") {
		t.Errorf("status %d, %v, %s", w.Code, w.Header(), w.Body)
	}
	silent := fence.Handler(broken{errors.New("commit failed")}, echo(&calls), fence.WithLogger(nil))
	if w := put(t, silent, "new", "5"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("without a logger: status %d", w.Code)
	}
	if calls != 2 || !strings.Contains(log.String(), "commit failed") || !strings.Contains(log.String(), "token=5") {
		t.Errorf("%d effects, log: %s", calls, &log)
	}
}

// undoing is a store that tells what its effect returned.
type undoing struct {
	fence.MemoryStore
	effects []error
}

func (u *undoing) Do(ctx context.Context, resource string, token int64, effect func(context.Context) error) error {
	return u.MemoryStore.Do(ctx, resource, token, func(ctx context.Context) error {
		err := effect(ctx)
		u.effects = append(u.effects, err)
		return err
	})
}

// A handler's own error is a failed effect for the store, and the client's answer.
func TestAnErrorOfTheHandlerIsAFailedEffect(t *testing.T) {
	for status, fails := range map[int]bool{200: false, 204: false, 304: false, 400: true, 412: true, 500: true} {
		store := &undoing{}
		h := fence.Handler(store, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		w := put(t, h, "new", "5")
		if w.Code != status || len(store.effects) != 1 || (store.effects[0] != nil) != fails || w.Header().Get(fence.Header) != "" {
			t.Errorf("%d: status %d, effects %v", status, w.Code, store.effects)
		}
	}
}

func TestAPanicLetsTheNextOneIn(t *testing.T) {
	store := &fence.MemoryStore{}
	h := fence.Handler(store, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") }))
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic did not propagate")
			}
		}()
		put(t, h, "new", "5")
	}()
	calls := 0
	if w := put(t, fence.Handler(store, echo(&calls)), "new", "5"); w.Code != http.StatusCreated {
		t.Errorf("after a panic: status %d", w.Code)
	}
}

// Waiting ends with the request, a stale one does not wait at all, and neither
// has an effect.
func TestWaitingForTheWriteBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fence.MemoryStore{}
		release := make(chan struct{})
		ended := make(chan error)
		go func() {
			ended <- store.Do(t.Context(), "a", 5, func(context.Context) error { <-release; return nil })
		}()
		synctest.Wait()
		never := func(context.Context) error { t.Error("the effect ran"); return nil }
		start := time.Now()
		if err := store.Do(t.Context(), "a", 4, never); !errors.Is(err, fence.ErrStale) || time.Since(start) != 0 {
			t.Errorf("a stale write: %v after %s", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := store.Do(ctx, "a", 6, never); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("a write that waits: %v after %s", err, time.Since(start))
		}
		close(release)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := store.Do(ctx, "a", 6, never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a write whose ctx has ended: %v", err)
		}
		if got := store.Highest("a"); got != 5 {
			t.Errorf("highest %d, expected 5: a write that never began raises nothing", got)
		}
		if err := store.Do(t.Context(), "a", 0, never); err == nil || !strings.Contains(err.Error(), "expected the token of a lease") {
			t.Errorf("token 0: %v", err)
		}
	})
}
