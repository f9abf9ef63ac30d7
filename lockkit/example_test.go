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

// Write does the same in one call, sends again what may pass, and says in its
// error what became of the items.
func ExampleLease_Write() {
	ctx := context.Background()
	locks, _ := lockkit.New(exampleTable(ctx), "shop")
	lease, err := locks.Acquire(ctx, "order-sweeper", 30*time.Second)
	if err != nil {
		panic(err)
	}
	place := func(id string) {
		err := lease.Write(ctx, types.TransactWriteItem{Put: &types.Put{
			TableName: aws.String("shop"),
			Item: map[string]types.AttributeValue{
				"pk": &types.AttributeValueMemberS{Value: "ORDER#" + id},
				"sk": &types.AttributeValueMemberS{Value: "ORDER"},
			},
			ConditionExpression: aws.String("attribute_not_exists(pk)"),
		}})
		switch {
		case err == nil:
			fmt.Println(id, "written")
		case errors.Is(err, lockkit.ErrUnknownOutcome):
			fmt.Println(id, "is to be looked up")
		case errors.Is(err, lockkit.ErrLeaseLost), errors.Is(err, lockkit.ErrReleased):
			fmt.Println(id, "not written: no lease")
		case lockkit.WhyCancelled(err, 0) == lockkit.CancelledByCondition:
			fmt.Println(id, "was there already")
		default:
			fmt.Println(id, "failed:", err)
		}
	}
	place("1")
	place("1")
	_ = lease.Release(ctx)
	place("2")
	// Output:
	// 1 written
	// 1 was there already
	// 2 not written: no lease
}

// A service leads for as long as it runs. An error of the election is one that
// somebody has to mend, a missing table here, so it pauses and contends again. An
// error of the work stops it.
func ExampleLockTable_RunAsLeader() {
	ctx, client := context.Background(), locktest.New().Client()
	locks, err := lockkit.New(client, "shop")
	if err != nil {
		panic(err)
	}
	work := func(ctx context.Context) error {
		fmt.Println("leading:", ctx.Err() == nil)
		return errors.New("no orders can be read")
	}
	pause := func() { // a minute and the end of ctx, in a service
		if err := locktest.CreateTable(ctx, client, "shop", "pk", "sk"); err != nil {
			panic(err)
		}
	}
	for {
		err := locks.RunAsLeader(ctx, "order-sweeper", 30*time.Second, work)
		if election, ok := errors.AsType[*lockkit.ElectionError](err); ok {
			fmt.Println("no election on", election.Lock)
			pause()
			continue
		}
		fmt.Println("stopped:", err)
		break
	}
	// Output:
	// no election on order-sweeper
	// leading: true
	// stopped: no orders can be read
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
