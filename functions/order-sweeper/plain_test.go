package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Without the held check: what the demonstration is to show really happens.
func TestAPlainWriteAfterATakeoverClosesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.place("due", 2, dueAfter+time.Minute)
		w.s = w.sweeper(func(t table) closer {
			return plain{table: t}
		})
		other := w.sweeper(func(t table) closer { return plain{table: t, work: func(context.Context, order) {}} })
		first := true
		slow := w.s.closer.(plain)
		slow.work = func(ctx context.Context, _ order) {
			if first {
				first = false
				if err := other.sweep(ctx, stranger{}, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.s.closer = slow
		if _, err := w.run(); err != nil {
			t.Fatal(err)
		}
		if got := w.closes("due-0"); len(got) != 2 {
			t.Errorf("due-0 was closed by %v, expected the successor and then the stale run", got)
		}
	})
}

type stranger struct{}

func (stranger) Token() int64                                            { return 7 }
func (stranger) Write(context.Context, ...types.TransactWriteItem) error { return nil }
func (stranger) Count(string, int)                                       {}
