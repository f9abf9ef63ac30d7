package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// sweeper is the code under test in the examples: it sweeps for as long as it
// leads.
type sweeper struct {
	locks *lockkit.LockTable
	swept chan string // the label of whoever sweeps
}

func newSweeper(client lockkit.Client, label string) *sweeper {
	locks, err := lockkit.New(client, "shop", lockkit.WithHolderLabel(label))
	if err != nil {
		panic(err)
	}
	return &sweeper{locks: locks, swept: make(chan string, 1)}
}

func (s *sweeper) run(ctx context.Context) error {
	return s.locks.RunAsLeader(ctx, "order-sweeper", 30*time.Second, func(ctx context.Context) error {
		s.swept <- s.locks.HolderLabel()
		<-ctx.Done()
		return context.Cause(ctx)
	})
}

// start runs a sweeper; stop ends it and waits for it.
func (s *sweeper) start() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// shop is the service's table in memory.
func shop() *dynamodb.Client {
	client := locktest.New().Client()
	if err := locktest.CreateTable(context.Background(), client, "shop", "pk", "sk"); err != nil {
		panic(err)
	}
	return client
}

// Another process holds the lock, and this one's code has to cope: a lease that
// it held is lost.
func ExampleSimulateHolder() {
	ctx, client := context.Background(), shop()
	locks, err := lockkit.New(client, "shop")
	if err != nil {
		panic(err)
	}
	lease, err := locks.Acquire(ctx, "order-sweeper", 30*time.Second)
	if err != nil {
		panic(err)
	}
	work, cancel := lease.Context(ctx)
	defer cancel()

	token, err := locktest.SimulateHolder(ctx, client, "shop", "order-sweeper", 30*time.Second, "another-pod")
	if err != nil {
		panic(err)
	}
	_ = lease.Renew(ctx) // or let the heartbeat find out, on virtual time
	ended, _ := errors.AsType[*lockkit.EndedError](context.Cause(work))
	fmt.Println("the work was told:", ended.Reason)

	state, _ := locks.State(ctx, "order-sweeper")
	fmt.Println("held by", state.Holder, "with the next token:", token == lease.Token()+1 && state.Token == token)
	// Output:
	// the work was told: taken_over
	// held by another-pod with the next token: true
}

// A second instance contends and waits. That it does is seen from its refusal and
// not from the number of its requests, which is lockkit's business.
func ExampleWatcher_WaitForRefusal() {
	client := shop()
	leader := newSweeper(client, "pod-1")
	stopLeader := leader.start()
	fmt.Println(<-leader.swept, "sweeps")

	watcher := locktest.NewWatcher(client)
	follower := newSweeper(watcher, "pod-2")
	refused := watcher.WaitForRefusal("order-sweeper")
	stopFollower := follower.start()
	<-refused
	fmt.Println("pod-2 has tried and waits; it swept:", len(follower.swept) > 0)

	fmt.Println("pod-2:", stopFollower())
	fmt.Println("pod-1:", stopLeader())
	// Output:
	// pod-1 sweeps
	// pod-2 has tried and waits; it swept: false
	// pod-2: context canceled
	// pod-1: context canceled
}
