package locktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// errConnectionLost is what a client sees of an answer that never comes.
var errConnectionLost = fmt.Errorf("locktest: connection lost: %w", io.ErrUnexpectedEOF)

// answer is what goes back over the wire.
type answer struct {
	status int
	body   []byte
}

// serve takes one request through the log, the faults and the operation. An
// error means that there is no answer: the connection is lost or ctx ended.
func (db *DB) serve(ctx context.Context, operation string, body []byte) (answer, error) {
	c, decodeErr := decodeCall(operation, body)
	seen := FaultRequest{Operation: operation, Body: body}
	if decodeErr == nil {
		seen.Table = c.tableName()
	}
	f := db.faults.strike(seen)
	entry := db.log.add(Request{At: time.Now(), Operation: operation, Table: seen.Table, Fault: f.Kind})
	run := func() answer {
		if decodeErr != nil {
			db.log.settle(entry, codeOf(decodeErr), false)
			return failed(decodeErr)
		}
		return db.run(c, entry)
	}

	if e := f.answer(c); e != nil {
		db.log.settle(entry, e.code, false)
		return failed(e), nil
	}
	switch f.Kind {
	case FaultBlackHole:
		<-ctx.Done()
		return answer{}, context.Cause(ctx)
	case FaultLate:
		time.AfterFunc(f.Wait, func() { run() })
		return answer{}, errConnectionLost
	case FaultDelay:
		if err := wait(ctx, f.Wait); err != nil {
			return answer{}, err
		}
		return run(), nil
	case FaultDelayAnswer:
		a := run()
		return a, wait(ctx, f.Wait)
	case FaultDropAnswer:
		run()
		return answer{}, errors.Join(errConnectionLost, wait(ctx, f.Wait))
	default:
		return run(), nil
	}
}

// wait lets d pass, or less if ctx ends, whose cause it returns.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run applies a decoded request and notes its outcome.
func (db *DB) run(c call, entry *Request) answer {
	out, err := db.locked(c)
	if err != nil {
		db.log.settle(entry, codeOf(err), false)
		return failed(err)
	}
	_, writes := c.(writeCall)
	if r, ok := out.(interface{ repeats() bool }); ok && r.repeats() {
		writes = false
	}
	db.log.settle(entry, "", writes)
	body, err := json.Marshal(out)
	if err != nil {
		return failed(err)
	}
	return answer{status: http.StatusOK, body: body}
}

func (db *DB) locked(c call) (any, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	return c.run(db)
}

// asServiceError makes sure that every failure has an answer; what is not an
// answer already is a defect of this package.
func asServiceError(err error) *serviceError {
	if e, ok := errors.AsType[*serviceError](err); ok {
		return e
	}
	e := newError(codeInternal, "%s", err.Error())
	e.status = http.StatusInternalServerError
	return e
}

func codeOf(err error) string { return asServiceError(err).code }

func failed(err error) answer {
	e := asServiceError(err)
	return answer{status: e.status, body: e.body()}
}
