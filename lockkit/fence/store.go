package fence

import "context"

// Store keeps the highest token that each resource has seen, and lets effects
// through that carry it or a higher one. [Handler] serves HTTP over one.
//
// The comparison, the raise and the effect must be one step, or a stale effect
// lands between them: a store that compared, let go and then ran the effect
// would let a writer be paused in the gap, and wake up behind its successor. So
// a store either runs the effect while it keeps every other effect on the
// resource out, or runs it in the transaction that raises the mark.
// [MemoryStore] does the first, [SQLStore] the second.
type Store interface {
	// Do runs effect once if token is not below the highest of the resource,
	// which it raises to token. Otherwise it returns a [StaleError] and does not
	// run it. Effects on one resource never overlap. The raise holds before the
	// effect can be seen, and outlasts it: an effect that failed may leave the mark
	// raised, one that succeeded must.
	//
	// An error of effect is returned so that errors.Is finds it, and nothing of the
	// effect that the store can undo remains. Any other error but a StaleError
	// means that the effect may or may not have happened. Waiting for the effect
	// before ends with ctx. The context that effect is given derives from ctx. A
	// panic in effect counts as its failure and propagates.
	Do(ctx context.Context, resource string, token int64, effect func(context.Context) error) error
}
