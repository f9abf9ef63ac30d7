package singleton_test

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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

// A job that sums up the orders of its interval, two a page. The first invocation
// has time for two pages; the next one goes on there, and the last page and "tick
// done" are one transaction.
func ExampleRun_Checkpoint() {
	ctx := context.Background()
	db := locktest.New()
	client := db.Client() // or dynamodb.NewFromConfig(cfg), and a table that exists
	if err := locktest.CreateTable(ctx, client, "shop", "pk", "sk"); err != nil {
		panic(err)
	}
	locks, err := lockkit.New(client, "shop")
	if err != nil {
		panic(err)
	}
	amounts := []int{10, 20, 30, 40, 50}
	total := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "REPORT"}, "sk": &types.AttributeValueMemberS{Value: "TOTAL"}}
	// Adding is not repeatable: each page must be written exactly once.
	plus := func(amount int) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{
			TableName: aws.String("shop"), Key: total, UpdateExpression: aws.String("ADD amount :a"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":a": &types.AttributeValueMemberN{Value: strconv.Itoa(amount)}},
		}}
	}
	const page, perInvocation = 2, 2
	report := func(ctx context.Context, run *singleton.Run) error {
		next, _ := strconv.Atoi(run.Cursor) // "" is the beginning
		for pages := 1; ; pages++ {
			end, sum := min(next+page, len(amounts)), 0
			for _, a := range amounts[next:end] {
				sum += a
			}
			fmt.Printf("orders %d to %d: %d\n", next, end-1, sum)
			if next = end; next == len(amounts) {
				return run.Commit(ctx, plus(sum))
			}
			if err := run.Checkpoint(ctx, strconv.Itoa(next), plus(sum)); err != nil {
				return err
			}
			if pages == perInvocation { // better: when the ctx's deadline is near
				return run.Yield()
			}
		}
	}
	nightly := job.Spec{Name: "nightly-report", Lease: 30 * time.Second}
	tick := events.Tick{Time: time.Date(2026, 1, 2, 2, 0, 0, 0, time.UTC)}
	for range 3 {
		res, _ := singleton.Do(ctx, locks, nightly, tick, report)
		fmt.Println(res.Outcome)
	}
	fmt.Println("total", db.Item("shop", total)["amount"].(*types.AttributeValueMemberN).Value)
	// Output:
	// orders 0 to 1: 30
	// orders 2 to 3: 70
	// out_of_time
	// orders 4 to 4: 50
	// completed
	// duplicate
	// total 150
}
