package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/fence"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
)

func TestANewDocumentIsPutAndAnOldOneIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i, step := range []struct {
			version, counts string
			puts            []string
		}{
			{"v1", "counts.bytes=2", []string{"v1"}},
			{"v1", "counts.unchanged=1", []string{"v1"}},
			{"v2", "counts.bytes=2", []string{"v1", "v2"}},
			{"v1", "counts.bytes=2", []string{"v1", "v2", "v1"}}, // the source went back
		} {
			w.source = version(step.version)
			w.log.Reset()
			res, err := w.run()
			if err != nil || res.Outcome != singleton.Completed || !slices.Equal(w.shelf.puts, step.puts) {
				t.Errorf("step %d: %+v, %v; puts %q, expected %q", i, res, err, w.shelf.puts, step.puts)
			}
			w.wantLog(step.counts)
			time.Sleep(time.Minute)
		}
		if w.shelf.kind != "text/plain" || w.shelf.etag != `"v1"` {
			t.Errorf("type %q and ETag %q", w.shelf.kind, w.shelf.etag)
		}
	})
}

// A source may give no ETag, or give one and not know If-None-Match.
func TestASourceThatKnowsLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, step := range []struct {
			etag string
			puts int
		}{{"", 1}, {"", 2}, {`"x"`, 3}, {`"x"`, 3}} {
			w.source = http.HandlerFunc(func(h http.ResponseWriter, _ *http.Request) {
				if step.etag != "" {
					h.Header().Set("ETag", step.etag)
				}
				_, _ = io.WriteString(h, "same")
			})
			if _, err := w.run(); err != nil || len(w.shelf.puts) != step.puts {
				t.Errorf("ETag %q: %v, %d puts, expected %d", step.etag, err, len(w.shelf.puts), step.puts)
			}
			time.Sleep(time.Minute)
		}
	})
}

// The run takes so long over the document that another takes over, and puts a
// newer one. Its own put is sent all the same, as by a process that was frozen
// just before.
func TestALatePutIsRefusedAndTheRunIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		honest := w.r.target
		var successor int64
		w.r.target = slow{target: honest, work: func(ctx context.Context, _ string) {
			var err error
			if successor, err = locktest.SimulateHolder(ctx, w.db.Client(), "locks", functions.CacheRefresh.Name, time.Minute, "successor"); err != nil {
				t.Error(err)
			}
			if err := honest.put(ctx, document{body: []byte("v2"), etag: `"v2"`}, successor); err != nil {
				t.Error(err)
			}
			time.Sleep(functions.CacheRefresh.Lease)
		}}
		res, err := w.run()
		stale, ok := errors.AsType[*fence.StaleError](err)
		if !ok || stale.Token != res.Token || stale.Highest != successor || !slices.Equal(w.shelf.puts, []string{"v2"}) {
			t.Fatalf("%+v, %v; puts %q", res, err, w.shelf.puts)
		}
		if res.Outcome != singleton.Lost || !errors.Is(err, lockkit.ErrLeaseLost) {
			t.Errorf("outcome %s, expected lost: %v", res.Outcome, err)
		}
		w.wantLog(`level=WARN msg="stale write refused" token=`)
	})
}

// The lease knows nothing of it: somebody else has a higher token from this lock.
func TestAStaleTokenIsSaidToBeALostLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const newer = int64(1) << 60
		if err := w.r.target.put(t.Context(), document{body: []byte("new"), etag: `"new"`}, newer); err != nil {
			t.Fatal(err)
		}
		// The first request is refused, so there is no pull.
		w.source = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the source was asked") })
		res, err := w.run()
		if !errors.Is(err, fence.ErrStale) || !strings.Contains(err.Error(), "the lock is lost") || res.Outcome != singleton.Failed || !slices.Equal(w.shelf.puts, []string{"new"}) {
			t.Errorf("%+v, %v; puts %q", res, err, w.shelf.puts)
		}
	})
}

func TestWhatTheServicesDoWrongIsNamed(t *testing.T) {
	long := strings.Repeat("x", maxDocument+1)
	respond := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	hang := func(http.ResponseWriter, *http.Request) { time.Sleep(time.Hour) }
	head := func(w *world, h http.HandlerFunc) { w.r.target = w.refresher(h, h).target }
	for name, test := range map[string]struct {
		plant func(*world)
		took  time.Duration
		want  []string
	}{
		"source 500":     {func(w *world) { w.source = respond(500, "on fire") }, 0, []string{"pull http://source.example/document (SOLOTICK_CACHE_SOURCE): ", "500", "expected 200", "on fire"}},
		"source 204":     {func(w *world) { w.source = respond(204, "") }, 0, []string{"204", "expected 200"}},
		"304, unasked":   {func(w *world) { w.source = respond(304, "") }, 0, []string{"304", "expected 200"}},
		"source hangs":   {func(w *world) { w.source = http.HandlerFunc(hang) }, requestTime, []string{"pull http://source.example/document", "deadline"}},
		"too long":       {func(w *world) { w.source = respond(200, long) }, 0, []string{"more bytes", "1048576"}},
		"announced long": {func(w *world) { w.source = announced(long) }, 0, []string{"1048577 bytes", "1048576"}},
		"put 500":        {func(w *world) { w.shelf.answer = 500 }, 0, []string{"put http://target.example/document (SOLOTICK_CACHE_TARGET): ", "500", "expected 2xx", "not today"}},
		"put moved":      {func(w *world) { w.shelf.answer = 302 }, 0, []string{"302", "expected 2xx"}},
		"target hangs":   {func(w *world) { head(w, hang) }, requestTime, []string{"ask for the ETag of http://target.example/document (SOLOTICK_CACHE_TARGET)", "deadline"}},
		"target 403":     {func(w *world) { head(w, respond(403, "")) }, 0, []string{"403", "expected 200 or 404"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				test.plant(w)
				begin := time.Now()
				res, err := w.run()
				if err == nil || res.Outcome != singleton.Failed || len(w.shelf.puts) != 0 || time.Since(begin) != test.took {
					t.Fatalf("%+v, %v after %s; puts %d", res, err, time.Since(begin), len(w.shelf.puts))
				}
				for _, want := range test.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q is missing in: %v", want, err)
					}
				}
				if strings.Contains(err.Error(), "hunter2") {
					t.Errorf("the query is shown: %v", err)
				}
				if test.took > 0 {
					time.Sleep(time.Hour) // for what hangs
				}
			})
		})
	}
}

// announced is a source that says how long its document is.
func announced(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = io.WriteString(w, body)
	}
}

// A document of exactly the bound is taken; the target's default bound is the same.
func TestTheLongestDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.source = announced(strings.Repeat("x", maxDocument))
		if res, err := w.run(); err != nil || len(w.shelf.puts) != 1 || len(w.shelf.puts[0]) != maxDocument {
			t.Errorf("%+v, %v; puts %d", res, err, len(w.shelf.puts))
		}
	})
}

// A put under way when the context ends gets a second more, and no longer.
func TestAPutOutlivesItsContextByASecond(t *testing.T) {
	for took, ok := range map[time.Duration]bool{settleTime - time.Millisecond: true, settleTime + time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			r := w.refresher(version("v1"), func(http.ResponseWriter, *http.Request) { time.Sleep(took) })
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			begin := time.Now()
			err := r.target.put(ctx, document{}, 1)
			if (err == nil) != ok || time.Since(begin) != min(took, settleTime) {
				t.Errorf("a put of %s: %v after %s", took, err, time.Since(begin))
			}
			time.Sleep(time.Minute) // for what is under way
		})
	}
}
