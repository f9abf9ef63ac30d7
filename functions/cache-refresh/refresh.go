package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/solotick/solotick/lockkit/fence"
	"github.com/solotick/solotick/lockkit/singleton"
)

// document is what is refreshed.
type document struct {
	body []byte
	kind string // its Content-Type
	etag string // the source's name for this content; "": it gives none
}

// target is where the document is served from. Both its methods show the run's
// token, and return a [fence.StaleError] when a newer run has been there.
type target interface {
	// etag returns that of the document which is there, "" for none.
	etag(ctx context.Context, token int64) (string, error)
	put(ctx context.Context, d document, token int64) error
}

// refresher brings a target up to date.
type refresher struct {
	source source
	target target
	logger *slog.Logger
}

// The counts of a run's result.
const (
	countBytes     = "bytes"     // that were put
	countUnchanged = "unchanged" // 1 when there was nothing new to put
)

// work pulls the document and puts it, unless the target has it already.
//
// The target is outside of DynamoDB, so nothing can make "it is put" and "this
// tick is done" one step: a tick may put the document twice, which does no harm.
// What would is an old document over a newer one, from a run that was paused and
// woke up late. The target refuses that, because each request has the token of
// its run. The first one comes before the pull: from then on no older run can put
// anything.
func (r *refresher) work(ctx context.Context, run *singleton.Run) error {
	token := slog.Int64("token", run.Token())
	r.logger.LogAttrs(ctx, slog.LevelDebug, "refresh started", token)
	have, err := r.target.etag(ctx, run.Token())
	if err != nil {
		return r.told(ctx, err, token)
	}
	d, err := r.source.pull(ctx, have)
	if errors.Is(err, errUnchanged) {
		run.Count(countUnchanged, 1)
		r.logger.LogAttrs(ctx, slog.LevelDebug, "document unchanged", token, slog.String("on", have))
		return nil
	}
	if err != nil {
		return err
	}
	about := []slog.Attr{token, slog.String("on", d.etag), slog.Int("bytes", len(d.body))}
	r.logger.LogAttrs(ctx, slog.LevelDebug, "document pulled", about...)
	if err := r.target.put(ctx, d, run.Token()); err != nil {
		return r.told(ctx, err, about...)
	}
	run.Count(countBytes, len(d.body))
	r.logger.LogAttrs(ctx, slog.LevelDebug, "document put", about...)
	return nil
}

// told says aloud that a write was refused because this run is not the newest.
func (r *refresher) told(ctx context.Context, err error, about ...slog.Attr) error {
	if !errors.Is(err, fence.ErrStale) {
		return err
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "stale write refused", about...)
	return fmt.Errorf("the lock is lost: %w", err)
}
