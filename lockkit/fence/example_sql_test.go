package fence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/solotick/solotick/lockkit/fence"
)

// exampleDatabase stands for your database.
func exampleDatabase(ctx context.Context, statements ...string) (db *sql.DB, done func()) {
	dir, err := os.MkdirTemp("", "fence")
	if err != nil {
		panic(err)
	}
	db, err = sql.Open("sqlite", filepath.Join(dir, "shop.db"))
	if err != nil {
		panic(err)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			panic(err)
		}
	}
	return db, func() {
		_ = db.Close()
		_ = os.RemoveAll(dir)
	}
}

// The mark is a column of the row that is written. Rows from before there was
// one hold NULL.
func ExampleColumn() {
	ctx := context.Background()
	db, done := exampleDatabase(ctx,
		"CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT)",
		"INSERT INTO orders VALUES ('1', 'placed')",
		"ALTER TABLE orders ADD COLUMN fence BIGINT CHECK (fence > 0)",
	)
	defer done()
	guard := fence.Column{Table: "orders", Name: "fence"}
	closeOrder := func(id string, token int64) error {
		result, err := db.ExecContext(ctx,
			"UPDATE orders SET status = 'closed', "+guard.Set("$1")+" WHERE id = $2 AND "+guard.Admits("$1"), token, id)
		if err != nil {
			return err
		}
		return guard.Check(ctx, db, result, "order "+id, token, "SELECT fence FROM orders WHERE id = $1", id)
	}
	fmt.Println(closeOrder("1", 1796130790757))
	fmt.Println("stale:", errors.Is(closeOrder("1", 1796130790756), fence.ErrStale))
	fmt.Println("no such order:", errors.Is(closeOrder("2", 1796130790757), sql.ErrNoRows))
	// Output:
	// <nil>
	// stale: true
	// no such order: true
}

// The mark has a table of its own, and the effect may be anything that the
// transaction can undo. The mark is raised first: a new holder that read before
// it could build on what a stale write is about to change.
func ExampleMarks() {
	ctx := context.Background()
	var marks fence.Marks
	db, done := exampleDatabase(ctx, marks.Schema(), "CREATE TABLE totals (amount BIGINT)", "INSERT INTO totals VALUES (10)")
	defer done()
	double := func(token int64) (amount int64, err error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		defer func() { _ = tx.Rollback() }() // does nothing after the commit
		if err := marks.Raise(ctx, tx, "the total", token); err != nil {
			return 0, err
		}
		if err := tx.QueryRowContext(ctx, "SELECT amount FROM totals").Scan(&amount); err != nil {
			return 0, err
		}
		amount *= 2
		if _, err := tx.ExecContext(ctx, "UPDATE totals SET amount = $1", amount); err != nil {
			return 0, err
		}
		return amount, tx.Commit()
	}
	fmt.Println(double(1796130790757))
	_, err := double(1796130790756)
	fmt.Println("stale:", errors.Is(err, fence.ErrStale))
	// Output:
	// 20 <nil>
	// stale: true
}
