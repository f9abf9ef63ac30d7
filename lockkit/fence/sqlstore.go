package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// SQLStore is a [Store] whose effects are transactions of an SQL database: the
// mark is raised first in the transaction, and the effect uses the same one, by
// [Tx]. Both are committed or neither is, across any number of processes. An
// effect outside of the transaction gets less: it has the resource for itself
// only as long as the connection to the database lives.
//
// Effects that wait for each other hold a connection each; SetMaxOpenConns of the
// database bounds them. DB must not be nil. It is safe for concurrent use.
type SQLStore struct {
	DB    *sql.DB
	Marks Marks
	// Options of the transactions; nil is the database's default. READ COMMITTED
	// is enough.
	Options *sql.TxOptions
}

// Do implements [Store]. The end of ctx rolls the transaction back.
func (s *SQLStore) Do(ctx context.Context, resource string, token int64, effect func(context.Context) error) (err error) {
	if err := checkToken(resource, token); err != nil {
		return err
	}
	tx, err := s.DB.BeginTx(ctx, s.Options)
	if err != nil {
		return fmt.Errorf("fence: begin a transaction for %q: %w", resource, err)
	}
	defer func() {
		// After a commit there is nothing left to roll back, and after a failed
		// statement the database has done it; what counts is the error before.
		_ = tx.Rollback()
	}()
	if err := s.Marks.Raise(ctx, tx, resource, token); err != nil {
		return err
	}
	if err := effect(context.WithValue(ctx, txKey{}, tx)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("fence: commit the write to %q: %w", resource, err)
	}
	return nil
}

type txKey struct{}

// Tx returns the transaction of the effect that ctx was given to by an
// [SQLStore]. The effect neither commits nor rolls back, and uses nothing of the
// transaction after it has returned.
func Tx(ctx context.Context) (*sql.Tx, error) {
	tx, ok := ctx.Value(txKey{}).(*sql.Tx)
	if !ok {
		return nil, errors.New("fence: no transaction in this context: expected that of an effect of an SQLStore, such as of a request that Handler let through")
	}
	return tx, nil
}
