package fence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Column guards the rows of an SQL table by a column of theirs that holds the
// token of the last writer: a 64-bit whole number, which may be NULL in rows
// that nobody has written under a lock yet. Its methods return parts for
// statements of the caller's own:
//
//	UPDATE orders SET status = $1, fence = $2
//	WHERE id = $3 AND ((orders.fence IS NULL OR orders.fence <= $2) AND $2 > 0)
//
//	INSERT INTO orders (id, status, fence) VALUES ($1, $2, $3)
//	ON CONFLICT (id) DO UPDATE SET status = excluded.status, fence = excluded.fence
//	WHERE ((orders.fence IS NULL OR orders.fence <= excluded.fence) AND excluded.fence > 0)
//
// A statement compares and writes while it holds the row, so it needs no
// transaction for that, and is right under READ COMMITTED: one that waited for
// another writer's row compares with what that one has committed. Pass its
// result to [Column.Check], or a refused write goes unnoticed.
//
// What is no token, 0 or less, changes no row that is there. The row that an INSERT
// creates has no condition to meet: let the column have CHECK (fence > 0), and the
// database refuses it there too.
//
// A row that is deleted takes its mark along: where rows are deleted, use
// [Marks], which keeps marks in a table of their own.
//
// The names go into the statement as they are: make them constants, quoted if
// they need it.
type Column struct {
	Table string // name or alias of the table in the statement
	Name  string // name of the column
}

// Set is the assignment of the mark for a SET clause. token is the placeholder
// of the token, such as "$2", or "excluded.fence" in an ON CONFLICT clause, where
// the INSERT's own values must hold the token then.
func (c Column) Set(token string) string { return c.Name + " = " + token }

// Admits is the condition of the guard for a WHERE clause, in parentheses, with
// token as for [Column.Set]. It says it twice, so a placeholder must be one with a
// number, and stand for a whole number, not for a text.
func (c Column) Admits(token string) string {
	name := c.Table + "." + c.Name
	// The column comes first: from it a database knows that the token has 64 bits.
	return "((" + name + " IS NULL OR " + name + " <= " + token + ") AND " + token + " > 0)"
}

// ErrNotApplied says that a guarded statement changed no row, although the row is
// there and its mark is not higher: a condition of the caller's own refused it.
var ErrNotApplied = errors.New("fence: no row was changed")

// Rows reads rows; *sql.DB, *sql.Tx and *sql.Conn do.
type Rows interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Check judges a guarded statement by the rows that it changed: nil if there are
// any. Otherwise it reads the mark of the row with query, which must select that
// column and no other, such as "SELECT fence FROM orders WHERE id = $1", and
// returns a [StaleError] if the mark is higher, an error that matches
// sql.ErrNoRows if there is no row, and [ErrNotApplied] else. resource is what
// the error calls the row. A mark never goes back, so a higher one is proof, also
// when it was written after the statement.
//
// In a transaction, rows is that transaction: a second connection could wait for
// it for ever.
func (c Column) Check(ctx context.Context, rows Rows, result sql.Result, resource string, token int64, query string, args ...any) error {
	if err := checkToken(resource, token); err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("fence: %q: the driver does not tell how many rows were changed, without which a refusal cannot be seen: %w", resource, err)
	}
	if n > 0 {
		return nil
	}
	var mark sql.NullInt64
	if err := rows.QueryRowContext(ctx, query, args...).Scan(&mark); err != nil {
		return fmt.Errorf("fence: nothing was written to %q with token %d; reading its mark: %w", resource, token, err)
	}
	if mark.Valid && mark.Int64 > token {
		return &StaleError{Resource: resource, Token: token, Highest: mark.Int64}
	}
	return fmt.Errorf("%w: %q with token %d, which is not stale: a condition of the statement's own does not hold", ErrNotApplied, resource, token)
}
