//go:build postgres

package fence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver

	"github.com/solotick/solotick/lockkit/fence"
)

// newPostgres is a schema of its own in the database that SOLOTICK_POSTGRES
// names; .ci/with-postgres starts one.
func newPostgres(tb testing.TB) *database {
	tb.Helper()
	dsn := os.Getenv("SOLOTICK_POSTGRES")
	if dsn == "" {
		tb.Fatal("SOLOTICK_POSTGRES is empty, expected the address of a PostgreSQL: run make test-postgres")
	}
	admin, err := sql.Open("postgres", dsn)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	schema := fmt.Sprintf("fence_%d", time.Now().UnixNano())
	if _, err := admin.ExecContext(tb.Context(), "CREATE SCHEMA "+schema); err != nil {
		tb.Fatal(err)
	}
	db, err := sql.Open("postgres", dsn+" search_path="+schema)
	if err != nil {
		tb.Fatal(err)
	}
	var isolation string
	if err := db.QueryRowContext(tb.Context(), "SHOW transaction_isolation").Scan(&isolation); err != nil || isolation != "read committed" {
		tb.Fatalf("isolation level %q, %v; expected read committed, which these tests are about", isolation, err)
	}
	return newDatabase(tb, db, "BIGSERIAL PRIMARY KEY")
}

func TestPostgresColumn(t *testing.T)               { judgesColumn(t, newPostgres(t)) }
func TestPostgresMarks(t *testing.T)                { raisesMarks(t, newPostgres(t)) }
func TestPostgresSQLStore(t *testing.T)             { servesHTTP(t, newPostgres(t)) }
func TestPostgresKeepsTheHighest(t *testing.T)      { keepsTheHighest(t, newPostgres(t)) }
func TestPostgresRefusesWhatIsNoToken(t *testing.T) { refusesNoToken(t, newPostgres(t)) }

// A write that meets another writer's open transaction waits for it, and is
// judged by what that one has committed, not by what it saw when it began. That
// is the window that a guard of two statements, a read and a write, leaves open.
func TestPostgresJudgesWhatWasCommitted(t *testing.T) {
	db := newPostgres(t)
	ways := map[string]struct {
		there bool // the row exists before
		write func(context.Context, *sql.Tx, string, int64) error
	}{
		"update": {true, func(ctx context.Context, tx *sql.Tx, id string, token int64) error {
			return setStatus(ctx, tx, id, "closed", token)
		}},
		"upsert, row": {true, func(ctx context.Context, tx *sql.Tx, id string, token int64) error {
			return putStatus(ctx, tx, id, "closed", token)
		}},
		"upsert, no row": {false, func(ctx context.Context, tx *sql.Tx, id string, token int64) error {
			return putStatus(ctx, tx, id, "closed", token)
		}},
		"marks, first use": {false, func(ctx context.Context, tx *sql.Tx, id string, token int64) error {
			return fence.Marks{}.Raise(ctx, tx, id, token)
		}},
		"marks, used": {false, func(ctx context.Context, tx *sql.Tx, id string, token int64) error {
			return fence.Marks{}.Raise(ctx, tx, id, token)
		}},
	}
	for name, way := range ways {
		for _, c := range []struct {
			first, second int64
			commit        bool // the first one; otherwise it rolls back
			stale         bool // the second one
		}{
			{exact, exact - 1, true, true},
			{exact, exact - 1, false, false},
			{exact, exact, true, false},
			{exact - 1, exact, true, false},
		} {
			label := fmt.Sprintf("%s, %d then %d, commit %t", name, c.first, c.second, c.commit)
			id := row()
			if way.there {
				if _, err := db.ExecContext(t.Context(), "INSERT INTO orders (id, status) VALUES ($1, 'placed')", id); err != nil {
					t.Fatal(err)
				}
			}
			if name == "marks, used" {
				if err := in(t.Context(), db, func(tx *sql.Tx) error { return way.write(t.Context(), tx, id, 1) }); err != nil {
					t.Fatal(err)
				}
			}
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := way.write(t.Context(), tx, id, c.first); err != nil {
				t.Fatalf("%s: the first: %v", label, err)
			}
			second := make(chan error, 1)
			go func() {
				second <- in(t.Context(), db, func(tx *sql.Tx) error { return way.write(t.Context(), tx, id, c.second) })
			}()
			waitForLock(t, db)
			end := tx.Rollback
			if c.commit {
				end = tx.Commit
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			err = <-second
			if !c.stale {
				if err != nil {
					t.Errorf("%s: %v", label, err)
				}
				continue
			}
			if stale, ok := errors.AsType[*fence.StaleError](err); !ok || *stale != (fence.StaleError{Resource: id, Token: c.second, Highest: c.first}) {
				t.Errorf("%s: %v", label, err)
			}
		}
	}
}

// waitForLock waits until a session of the server waits for another's lock.
func waitForLock(t *testing.T, db *database) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		var waiting int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting > 0 {
			return
		}
	}
	t.Fatal("the second write does not wait for the first one's transaction")
}
