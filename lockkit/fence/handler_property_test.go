package fence_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/fence"
)

// request is a write of a plan: when it arrives and how long its effect takes.
type request struct {
	token        int64
	at, duration time.Duration
}

func requests() *rapid.Generator[[]request] {
	ms := func(t *rapid.T, name string) time.Duration {
		return time.Duration(rapid.IntRange(0, 20).Draw(t, name)) * time.Millisecond
	}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) request {
		return request{token: tokens().Draw(t, "token"), at: ms(t, "at"), duration: ms(t, "duration")}
	}), 1, 12)
}

// serve plays a plan against a Handler over a MemoryStore, whose effects take
// time, and returns what is wrong with what happened.
func serve(t *testing.T, plan []request) (faults []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		left := int64(0)
		var store fence.MemoryStore
		put := fence.Handler(&store, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			l.begin()
			token := tokenOf(r)
			before := left
			time.Sleep(durationOf(r))
			if left != before {
				l.fault("the resource changed from %d to %d under the write of %d", before, left, token)
			}
			left = token
			l.land(token)
		}))
		var sent []int64
		var all sync.WaitGroup
		for _, p := range plan {
			sent = append(sent, p.token)
			all.Go(func() {
				time.Sleep(p.at)
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/cache/a", strings.NewReader(p.duration.String()))
				fence.SetToken(r, p.token)
				w := httptest.NewRecorder()
				put.ServeHTTP(w, r)
				switch w.Code {
				case http.StatusOK:
				case http.StatusPreconditionFailed:
					l.refuse(p.token)
				default:
					l.fault("status %d for token %d: %s", w.Code, p.token, w.Body)
				}
			})
		}
		all.Wait()
		if highest := store.Highest("/cache/a"); highest != left {
			l.fault("the store's highest is %d, the resource shows %d", highest, left)
		}
		faults = l.check(sent, left)
	})
	return faults
}

func TestGuaranteeHandlerKeepsTheHighest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		for _, fault := range serve(t, requests().Draw(rt, "plan")) {
			rt.Error(fault)
		}
	})
}

// Fifty writers at one instant: their effects take turns, and whoever is let
// through after a higher token would have been, is refused.
func TestGuaranteeEffectsDoNotOverlap(t *testing.T) {
	var plan []request
	for i := range int64(50) {
		plan = append(plan, request{token: exact + i%10, duration: time.Millisecond})
	}
	for _, fault := range serve(t, plan) {
		t.Error(fault)
	}
}
