package main

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// The process was frozen, and the other side has closed the kept connection: the
// request that finds out is sent again on a new one.
func TestAPutSurvivesAConnectionThatWasClosedMeanwhile(t *testing.T) {
	var requests, puts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 { // the first on the kept connection
			connection, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			connection.Close()
			return
		}
		if _, there := r.Header["Idempotency-Key"]; there {
			t.Error("the hint to net/http was sent")
		}
		puts.Add(1)
	}))
	defer server.Close()
	client := newClient()
	defer client.CloseIdleConnections()
	target := newFenced(client, server.URL)
	for range 2 {
		if err := target.put(t.Context(), document{body: []byte("x")}, 7); err != nil {
			t.Error(err)
		}
	}
	if puts.Load() != 2 || requests.Load() != 3 {
		t.Errorf("%d puts by %d requests, expected 2 by 3", puts.Load(), requests.Load())
	}
}
