package fence

import (
	"context"
	"database/sql"
	"fmt"
)

// DefaultTable is the table of [Marks] that names none.
const DefaultTable = "fencing_marks"

// Marks keeps the highest token of each resource in an SQL table of its own, for
// effects that have no single row to hold a mark: several rows, rows that are
// deleted, inserts only. The effect must be in the transaction that raises the
// mark, on the same database.
//
// It needs INSERT ... ON CONFLICT and placeholders such as $1, and is tested on
// PostgreSQL and SQLite. The zero value is ready; it is safe for concurrent use.
type Marks struct {
	Table string // "" is DefaultTable; goes into statements as it is
}

func (m Marks) table() string {
	if m.Table == "" {
		return DefaultTable
	}
	return m.Table
}

// Schema returns the statement that creates the table unless it is there.
func (m Marks) Schema() string {
	return "CREATE TABLE IF NOT EXISTS " + m.table() + " (resource TEXT PRIMARY KEY, token BIGINT NOT NULL)"
}

// Raise raises the mark of the resource to token, or returns a [StaleError] if it
// is higher; roll back then. Call it first in the transaction: what was read
// before may be out of date, and Raise waits for other transactions on the
// resource. From then on the transaction has the mark's row, so nobody else
// raises it, or passes Raise, before it ends, and that is what makes the rest of
// it one step with the raise. READ COMMITTED is enough.
//
// A transaction that only raises the mark and reads is how a new holder begins.
// Take the marks of several resources in one order everywhere, or two
// transactions can wait for each other until the database refuses one.
//
// ctx bounds the wait. Other errors are the database's, such as a deadlock or,
// under a higher isolation level, a serialization failure; the transaction has
// had no effect then.
func (m Marks) Raise(ctx context.Context, tx *sql.Tx, resource string, token int64) error {
	if err := checkToken(resource, token); err != nil {
		return err
	}
	mark := Column{Table: m.table(), Name: "token"}
	result, err := tx.ExecContext(ctx, "INSERT INTO "+m.table()+" (resource, token) VALUES ($1, $2)"+
		" ON CONFLICT (resource) DO UPDATE SET "+mark.Set("excluded.token")+" WHERE "+mark.Admits("excluded.token"), resource, token)
	if err != nil {
		return fmt.Errorf("fence: raise the mark of %q to %d in table %s: %w", resource, token, m.table(), err)
	}
	return mark.Check(ctx, tx, result, resource, token, "SELECT token FROM "+m.table()+" WHERE resource = $1", resource)
}
