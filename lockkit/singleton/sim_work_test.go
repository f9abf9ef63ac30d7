package singleton_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
)

// effects is the table with one item for each unit of time. In n is how often a run
// of its tick has counted it, in forced how often a forced one has.
const effects = "effects"

func unitKey(n int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": s("UNIT#" + strconv.Itoa(n))}
}

// unitsUpTo is how many units have passed by a tick.
func (w *simWorld) unitsUpTo(tick time.Time) int {
	if tick.Before(w.base) {
		return 0
	}
	return int(tick.Sub(w.base) / unit)
}

// tickAt is the time of the nth tick.
func (w *simWorld) tickAt(n int) time.Time { return w.base.Add(time.Duration(n+1) * tickStep) }

// count is the action that counts a unit.
func count(n int, forced bool) types.TransactWriteItem {
	attribute := "n"
	if forced {
		attribute = "forced"
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(effects), Key: unitKey(n), UpdateExpression: aws.String("ADD #n :one"),
		ExpressionAttributeNames:  map[string]string{"#n": attribute},
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": numberOf(1)},
	}}
}

// work counts the units of its interval, each once, as the plan of its delivery
// says.
func (w *simWorld) work(d simDelivery) singleton.Work {
	return func(ctx context.Context, run *singleton.Run) error {
		ends := w.begins(ctx, run, d)
		defer ends()
		err := w.count(ctx, run, d)
		if d.Careless && (ctx.Err() != nil || errors.Is(err, errCommit) || errors.Is(err, lockkit.ErrUnknownOutcome)) {
			return nil
		}
		return err
	}
}

var errCommit = errors.New("the commit failed")

func (w *simWorld) count(ctx context.Context, run *singleton.Run, d simDelivery) error {
	done, last := w.unitsUpTo(run.Since), w.unitsUpTo(run.Tick)
	if run.Cursor != "" {
		at, err := strconv.Atoi(run.Cursor)
		if err != nil {
			return err
		}
		done = max(done, at)
	}
	for page := 0; ; page++ {
		if err := nap(ctx, d.Nap); err != nil {
			return err
		}
		switch page {
		case d.FailAt:
			return errBoom
		case d.YieldAt:
			return run.Yield()
		}
		if w.plan.Style == marked || run.Tick.IsZero() {
			return nil
		}
		next := last
		if w.plan.Style == paging {
			next = min(done+d.Page, last)
		}
		var items []types.TransactWriteItem
		for n := done + 1; n <= next; n++ {
			items = append(items, count(n, d.Force))
		}
		if next == last {
			if err := run.Commit(ctx, items...); err != nil {
				return fmt.Errorf("%w: %w", errCommit, err)
			}
			return nap(ctx, d.After)
		}
		if err := run.Checkpoint(ctx, strconv.Itoa(next), items...); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		done = next
	}
}

func nap(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func numberOf(v int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(v, 10)}
}
