package singleton_test

import (
	"context"
	"fmt"
	"time"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/job"
)

func ExampleDo() {
	ctx := context.Background()
	client := locktest.New().Client() // or dynamodb.NewFromConfig(cfg), and a table that exists
	if err := locktest.CreateTable(ctx, client, "locks", "pk", "sk"); err != nil {
		panic(err)
	}
	locks, err := lockkit.New(client, "locks", lockkit.WithHolderLabel("cron-1"))
	if err != nil {
		panic(err)
	}
	nightly := job.Spec{Name: "nightly-report", Lease: 30 * time.Second}
	tick := events.Tick{Time: time.Date(2026, 1, 2, 2, 0, 0, 0, time.UTC)}
	report := func(_ context.Context, run *singleton.Run) error {
		fmt.Println("report up to", run.Tick.Format(time.DateTime))
		return nil
	}
	// The second delivery of the tick does nothing.
	for range 2 {
		res, err := singleton.Do(ctx, locks, nightly, tick, report)
		fmt.Println(res.Outcome, err)
	}
	// Output:
	// report up to 2026-01-02 02:00:00
	// completed <nil>
	// duplicate <nil>
}
