package lockkit_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// exampleTable stands for the table and the client of your service.
func exampleTable(ctx context.Context) *dynamodb.Client {
	client := locktest.New().Client()
	if err := locktest.CreateTable(ctx, client, "shop", "pk", "sk"); err != nil {
		panic(err)
	}
	return client
}

func ExampleLockTable_Acquire() {
	ctx := context.Background()
	locks, err := lockkit.New(exampleTable(ctx), "shop", lockkit.WithHolderLabel("report-7d4f"))
	if err != nil {
		panic(err)
	}
	lease, err := locks.Acquire(ctx, "nightly-report", 30*time.Second)
	if err != nil {
		panic(err)
	}
	work, cancel := lease.Context(ctx) // ends when the lease is lost
	defer cancel()
	fmt.Println("working:", work.Err() == nil)

	if err := lease.Release(ctx); err != nil {
		panic(err)
	}
	fmt.Println("afterwards:", errors.Is(context.Cause(work), lockkit.ErrReleased))
	// Output:
	// working: true
	// afterwards: true
}

// A process that runs once and ends gives up on a holder that lives, and takes
// over from one that stays silent for a whole lease.
func ExampleGiveUpWhenAlive() {
	ctx := context.Background()
	client := exampleTable(ctx)
	holder, _ := lockkit.New(client, "shop", lockkit.WithHolderLabel("report-7d4f"))
	lease, err := holder.Acquire(ctx, "nightly-report", time.Second)
	if err != nil {
		panic(err)
	}
	defer func() { _ = lease.Release(ctx) }()

	other, _ := lockkit.New(client, "shop")
	_, err = other.Acquire(ctx, "nightly-report", time.Second, lockkit.GiveUpWhenAlive())
	if held, ok := errors.AsType[*lockkit.HeldError](err); ok && held.Alive {
		fmt.Println("it runs already, on", held.Holder)
	}
	// Output: it runs already, on report-7d4f
}

// The held check goes into the same transaction as the writes it protects.
func ExampleLease_ConditionCheck() {
	ctx := context.Background()
	client := exampleTable(ctx)
	locks, _ := lockkit.New(client, "shop")
	lease, err := locks.Acquire(ctx, "order-sweeper", 30*time.Second)
	if err != nil {
		panic(err)
	}
	closeOrder := func(id string) error {
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			lease.ConditionCheck(),
			{Put: &types.Put{TableName: aws.String("shop"), Item: map[string]types.AttributeValue{
				"pk":     &types.AttributeValueMemberS{Value: "ORDER#" + id},
				"sk":     &types.AttributeValueMemberS{Value: "ORDER"},
				"status": &types.AttributeValueMemberS{Value: "closed"},
			}}},
		}})
		return err
	}
	fmt.Println("while held:", closeOrder("1"))
	_ = lease.Release(ctx)
	_, refused := errors.AsType[*types.TransactionCanceledException](closeOrder("2"))
	fmt.Println("afterwards refused:", refused)
	// Output:
	// while held: <nil>
	// afterwards refused: true
}

func ExampleLockTable_State() {
	ctx := context.Background()
	locks, _ := lockkit.New(exampleTable(ctx), "shop", lockkit.WithHolderLabel("report-7d4f"))
	lease, err := locks.Acquire(ctx, "nightly-report", 30*time.Second)
	if err != nil {
		panic(err)
	}
	state, _ := locks.State(ctx, "nightly-report")
	fmt.Println(state.Held, state.Holder, state.Lease, state.Token == lease.Token())
	_ = lease.Release(ctx)
	state, _ = locks.State(ctx, "nightly-report")
	fmt.Println(state.Held, state.Token == lease.Token())
	// Output:
	// true report-7d4f 30s true
	// false true
}
