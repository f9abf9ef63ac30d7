package fence_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/solotick/solotick/lockkit/fence"
)

// refusesNoToken: what no lock gives out changes nothing, whatever the mark is, and
// not only says so afterwards. A variable that nobody has set is 0.
func refusesNoToken(t *testing.T, db *database) {
	t.Helper()
	ctx := t.Context()
	for way, write := range map[string]func(context.Context, session, string, string, int64) error{"update": setStatus, "upsert": putStatus} {
		for _, mark := range []any{nil, int64(-1), int64(0), int64(1), exact} {
			for _, token := range []int64{0, -1, -exact} {
				id := row()
				if _, err := db.ExecContext(ctx, "INSERT INTO orders (id, status, fence) VALUES ($1, 'placed', $2)", id, mark); err != nil {
					t.Fatal(err)
				}
				if err := write(ctx, db, id, "closed", token); err == nil || !strings.Contains(err.Error(), "expected the token of a lease") {
					t.Errorf("%s, token %d on %v: %v", way, token, mark, err)
				}
				var status string
				var found sql.NullInt64
				if err := db.QueryRowContext(ctx, "SELECT status, fence FROM orders WHERE id = $1", id).Scan(&status, &found); err != nil {
					t.Fatal(err)
				}
				before, had := mark.(int64)
				if status != "placed" || found.Valid != had || found.Int64 != before {
					t.Errorf("%s, token %d on %v: the row is %q with %v now", way, token, mark, status, found)
				}
			}
		}
	}

	// A new row of an INSERT is refused by the column, where that has the check.
	if _, err := db.ExecContext(ctx, "CREATE TABLE checked (id TEXT PRIMARY KEY, fence BIGINT CHECK (fence > 0))"); err != nil {
		t.Fatal(err)
	}
	checked := fence.Column{Table: "checked", Name: "fence"}
	for token, lands := range map[int64]bool{-1: false, 0: false, 1: true, exact: true} {
		_, err := db.ExecContext(ctx, "INSERT INTO checked (id, fence) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET "+
			checked.Set("excluded.fence")+" WHERE "+checked.Admits("excluded.fence"), row(), token)
		if (err == nil) != lands {
			t.Errorf("a new row with token %d: %v", token, err)
		}
	}

	id := row()
	for _, token := range []int64{0, -1} {
		err := in(ctx, db, func(tx *sql.Tx) error { return fence.Marks{}.Raise(ctx, tx, id, token) })
		if err == nil || !strings.Contains(err.Error(), "expected the token of a lease") {
			t.Errorf("marks, token %d: %v", token, err)
		}
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+fence.DefaultTable+" WHERE resource = $1", id).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d marks, %v", n, err)
	}
}
