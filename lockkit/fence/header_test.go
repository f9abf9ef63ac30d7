package fence_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/solotick/solotick/lockkit/fence"
)

func TestSetToken(t *testing.T) {
	r := &http.Request{}
	fence.SetToken(r, exact)
	fence.SetToken(r, greatest)
	if got := r.Header.Values(fence.Header); len(got) != 1 || got[0] != "9223372036854775807" {
		t.Errorf("header %q", got)
	}
}

func TestCheckResponse(t *testing.T) {
	own := http.Header{"If-Match": {`"v1"`}}
	for _, c := range []struct {
		name    string
		status  int
		highest []string    // of the answer
		request http.Header // besides the token
		want    int64       // -1: not stale; otherwise the highest
	}{
		{name: "success", status: 200, want: -1},
		{name: "success that shows a token", status: 200, highest: []string{"9"}, want: -1},
		{name: "another refusal", status: 409, highest: []string{"9"}, want: -1},
		{name: "refused", status: 412, highest: []string{"9007199254740994"}, want: exact + 1},
		{name: "refused, the greatest", status: 412, highest: []string{"9223372036854775807"}, want: greatest},
		{name: "refused, highest not told", status: 412, want: 0},
		{name: "refused, highest not readable", status: 412, highest: []string{"x"}, want: 0},
		{name: "own precondition", status: 412, request: own, want: -1},
		{name: "stale beside an own precondition", status: 412, highest: []string{"9007199254740994"}, request: own, want: exact + 1},
	} {
		r := &http.Request{Header: c.request.Clone()}
		fence.SetToken(r, exact)
		err := fence.CheckResponse(&http.Response{StatusCode: c.status, Header: http.Header{fence.Header: c.highest}, Request: r}, "cache/a")
		stale, ok := errors.AsType[*fence.StaleError](err)
		switch {
		case c.want == -1:
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		case !ok || *stale != fence.StaleError{Resource: "cache/a", Token: exact, Highest: c.want} || !errors.Is(err, fence.ErrStale):
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := fence.CheckResponse(&http.Response{StatusCode: 412}, "cache/a"); err != nil {
		t.Errorf("a response that names no request claims too much: %v", err)
	}
}

// Both sides over a real connection.
func TestClientAndServer(t *testing.T) {
	calls := 0
	server := httptest.NewServer(fence.Handler(&fence.MemoryStore{}, echo(&calls)))
	defer server.Close()
	send := func(token int64) error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/cache/a", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		fence.SetToken(r, token)
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		return fence.CheckResponse(resp, "cache/a")
	}
	if err := send(exact); err != nil {
		t.Error(err)
	}
	if err := send(greatest); err != nil {
		t.Error(err)
	}
	err := send(exact)
	stale, ok := errors.AsType[*fence.StaleError](err)
	if !ok || *stale != (fence.StaleError{Resource: "cache/a", Token: exact, Highest: greatest}) {
		t.Errorf("a stale write: %v", err)
	}
	if calls != 2 {
		t.Errorf("%d effects, expected 2", calls)
	}
}
