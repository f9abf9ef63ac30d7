package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// What one run does at most. An order that has been placed for dueAfter without
// being confirmed is closed. maxPerRun keeps a run well within the function's
// time even where every order takes its second; what is left is the next run's.
const (
	dueAfter  = 30 * time.Minute
	pageSize  = 25
	maxPerRun = 200
)

// holder is what the job needs of its run: the token that its writes carry, the
// transactions that commit only while the lease is held, and the counts of the
// run's result.
type holder interface {
	Token() int64
	Write(ctx context.Context, items ...types.TransactWriteItem) error
	Count(name string, n int)
}

// closer closes one order for a holder. The error is errNotPlaced when there is
// nothing to close any more, and matches lockkit.ErrLeaseLost when the write was
// refused because the lease is another's; any other is a failure.
type closer interface {
	close(ctx context.Context, h holder, o order) error
}

// errNotPlaced says that somebody else has dealt with the order.
var errNotPlaced = errors.New("the order is no longer placed")

// sweeper closes orders that are due.
type sweeper struct {
	table     table
	closer    closer
	logger    *slog.Logger
	pageSize  int32
	maxPerRun int
}

// The counts of a run's result.
const (
	countClosed   = "closed"
	countSkipped  = "skipped"   // somebody else had dealt with them
	countMoreLeft = "more_left" // 1 when the bound ended the run, not the orders
)

// sweep closes the orders that were due at the given time, oldest first. It
// stops at the first write that is refused because the lease is lost, before
// the next order when ctx has ended, and at the bound. What it has done until then
// is in the counts of the run's result in every case.
func (s *sweeper) sweep(ctx context.Context, h holder, due time.Time) error {
	s.logger.LogAttrs(ctx, slog.LevelDebug, "sweep started", slog.Int64("token", h.Token()))
	h.Count(countClosed, 0)
	h.Count(countSkipped, 0)
	settled := 0
	for o, err := range s.table.placedBefore(ctx, due.Add(-dueAfter), s.pageSize) {
		if err != nil {
			return err
		}
		if settled == s.maxPerRun {
			h.Count(countMoreLeft, 1)
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("stopped before order %s: %w", o.id, context.Cause(ctx))
		}
		if err := s.settle(ctx, h, o); err != nil {
			return err
		}
		settled++
	}
	return nil
}

// settle closes one order, counts it and says so.
func (s *sweeper) settle(ctx context.Context, h holder, o order) error {
	about := []slog.Attr{slog.String("order", o.id), slog.Int64("token", h.Token())}
	s.logger.LogAttrs(ctx, slog.LevelDebug, "closing order", about...)
	err := s.closer.close(ctx, h, o)
	switch {
	case err == nil:
		h.Count(countClosed, 1)
		s.logger.LogAttrs(ctx, slog.LevelDebug, "order closed", about...)
		return nil
	case errors.Is(err, errNotPlaced):
		h.Count(countSkipped, 1)
		s.logger.LogAttrs(ctx, slog.LevelDebug, "order skipped", about...)
		return nil
	case errors.Is(err, lockkit.ErrLeaseLost):
		s.logger.LogAttrs(ctx, slog.LevelWarn, "stale write refused", about...)
	}
	return fmt.Errorf("close order %s with token %d: %w", o.id, h.Token(), err)
}
