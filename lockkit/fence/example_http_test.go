package fence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/solotick/solotick/lockkit/fence"
)

// cache stands for a service that keeps pages. It needs no lock of its own: the
// handler around it lets one request of a page in at a time.
type cache struct{ page string }

func (c *cache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		c.page = string(text)
	}
	_, _ = io.WriteString(w, c.page)
}

// send is a client of that service. It judges the answer by the token first and
// by the status then.
func send(ctx context.Context, client *http.Client, method, url string, token int64, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	fence.SetToken(r, token)
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := fence.CheckResponse(resp, "the front page"); err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s %s: status %s", method, url, resp.Status)
	}
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// A new holder reads through the handler, with its token: that raises the mark
// and reads in one step. From then on the old holder is refused, so nothing can
// change between the new one's read and its write.
func ExampleHandler() {
	ctx := context.Background()
	server := httptest.NewServer(fence.Handler(&fence.MemoryStore{}, &cache{page: "page 1"}))
	defer server.Close()
	url := server.URL + "/front"
	const old, successor = 1796130790756, 1796130790757 // tokens of two leases

	page, err := send(ctx, server.Client(), http.MethodGet, url, successor, "")
	fmt.Println("successor reads:", page, err)

	_, err = send(ctx, server.Client(), http.MethodPut, url, old, "page of the past")
	fmt.Println("old holder is stale:", errors.Is(err, fence.ErrStale))
	if stale, ok := errors.AsType[*fence.StaleError](err); ok {
		fmt.Println("the highest token is", stale.Highest)
	}

	page, err = send(ctx, server.Client(), http.MethodPut, url, successor, page+", improved")
	fmt.Println("successor writes:", page, err)
	// Output:
	// successor reads: page 1 <nil>
	// old holder is stale: true
	// the highest token is 1796130790757
	// successor writes: page 1, improved <nil>
}
