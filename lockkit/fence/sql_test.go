package fence_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/fence"
)

// database is a real one with the tables of these tests: orders, whose rows hold
// their mark, the table of Marks, and landed, which numbers what was written.
type database struct {
	*sql.DB
}

var rows atomic.Int64

// row names a row or resource that no other test uses.
func row() string { return fmt.Sprintf("order-%d", rows.Add(1)) }

func newDatabase(tb testing.TB, db *sql.DB, serial string) *database {
	tb.Helper()
	tb.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(12)
	for _, statement := range []string{
		"CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT NOT NULL, fence BIGINT)",
		"CREATE TABLE landed (seq " + serial + ", id TEXT NOT NULL, token BIGINT NOT NULL)",
		fence.Marks{}.Schema(),
		fence.Marks{}.Schema(), // again: does nothing
	} {
		if _, err := db.ExecContext(tb.Context(), statement); err != nil {
			tb.Fatal(err)
		}
	}
	return &database{db}
}

// session sends statements: a database, or a transaction.
type session interface {
	fence.Rows
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

const markOf = "SELECT fence FROM orders WHERE id = $1"

var orders = fence.Column{Table: "orders", Name: "fence"}

// setStatus updates an order that is there and not cancelled.
func setStatus(ctx context.Context, s session, id, status string, token int64) error {
	result, err := s.ExecContext(ctx, "UPDATE orders SET status = $1, "+orders.Set("$2")+
		" WHERE id = $3 AND status <> 'cancelled' AND "+orders.Admits("$2"), status, token, id)
	if err != nil {
		return err
	}
	return orders.Check(ctx, s, result, id, token, markOf, id)
}

// putStatus updates an order or inserts it.
func putStatus(ctx context.Context, s session, id, status string, token int64) error {
	result, err := s.ExecContext(ctx, "INSERT INTO orders (id, status, fence) VALUES ($1, $2, $3)"+
		" ON CONFLICT (id) DO UPDATE SET status = excluded.status, "+orders.Set("excluded.fence")+
		" WHERE orders.status <> 'cancelled' AND "+orders.Admits("excluded.fence"), id, status, token)
	if err != nil {
		return err
	}
	return orders.Check(ctx, s, result, id, token, markOf, id)
}

// in runs f in a transaction and commits it unless f fails.
func in(ctx context.Context, db *database, f func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func land(ctx context.Context, s session, id string, token int64) error {
	_, err := s.ExecContext(ctx, "INSERT INTO landed (id, token) VALUES ($1, $2)", id, token)
	return err
}

// landings returns the tokens that landed on a row, in their order.
func (db *database) landings(ctx context.Context, id string) (tokens []int64, err error) {
	found, err := db.QueryContext(ctx, "SELECT token FROM landed WHERE id = $1 ORDER BY seq", id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var token int64
		if err := found.Scan(&token); err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
	}
	return tokens, found.Err()
}

// judgesColumn: each state of the row, for an update and for an insert-or-update.
func judgesColumn(t *testing.T, db *database) {
	t.Helper()
	writes := map[string]func(context.Context, session, string, string, int64) error{"update": setStatus, "upsert": putStatus}
	for way, write := range writes {
		for _, c := range []struct {
			name   string
			row    []any // status and mark; nil: none
			update string
			upsert string
		}{
			{"no row", nil, "no row", "lands"},
			{"NULL", []any{"placed", nil}, "lands", "lands"},
			{"lower", []any{"placed", exact - 1}, "lands", "lands"},
			{"equal", []any{"placed", exact}, "lands", "lands"},
			{"higher", []any{"placed", exact + 1}, "stale", "stale"},
			{"NULL, own condition fails", []any{"cancelled", nil}, "not applied", "not applied"},
			{"lower, own condition fails", []any{"cancelled", exact - 1}, "not applied", "not applied"},
			{"higher, own condition fails", []any{"cancelled", exact + 1}, "stale", "stale"},
		} {
			id := row()
			if c.row != nil {
				if _, err := db.ExecContext(t.Context(), "INSERT INTO orders (id, status, fence) VALUES ($1, $2, $3)", append([]any{id}, c.row...)...); err != nil {
					t.Fatal(err)
				}
			}
			err := write(t.Context(), db, id, "closed", exact)
			got, want := "another error", map[string]string{"update": c.update, "upsert": c.upsert}[way]
			stale, isStale := errors.AsType[*fence.StaleError](err)
			switch {
			case err == nil:
				got = "lands"
			case isStale && *stale == fence.StaleError{Resource: id, Token: exact, Highest: exact + 1}:
				got = "stale"
			case errors.Is(err, sql.ErrNoRows):
				got = "no row"
			case errors.Is(err, fence.ErrNotApplied):
				got = "not applied"
			}
			if got != want {
				t.Errorf("%s, %s: %s, expected %s: %v", way, c.name, got, want, err)
			}
			var status string
			var mark sql.NullInt64
			err = db.QueryRowContext(t.Context(), "SELECT status, fence FROM orders WHERE id = $1", id).Scan(&status, &mark)
			if landed := err == nil && status == "closed" && mark.Int64 == exact; landed != (want == "lands") {
				t.Errorf("%s, %s: the row is %q, %v, %v", way, c.name, status, mark, err)
			}
		}
	}
}

// raisesMarks: raise and effect are committed together or not at all.
func raisesMarks(t *testing.T, db *database) {
	t.Helper()
	id := row()
	write := func(token int64, fails error) error {
		return in(t.Context(), db, func(tx *sql.Tx) error {
			if err := (fence.Marks{}).Raise(t.Context(), tx, id, token); err != nil {
				return err
			}
			if err := land(t.Context(), tx, id, token); err != nil {
				return err
			}
			return fails
		})
	}
	broken := errors.New("broken")
	for _, step := range []struct {
		token int64
		fails error
		want  error
	}{
		{token: exact},
		{token: exact},
		{token: exact - 1, want: fence.ErrStale},
		{token: exact + 2, fails: broken, want: broken}, // leaves no mark
		{token: exact + 1},
		{token: greatest},
		{token: greatest - 1, want: fence.ErrStale},
		{token: -1},
		{token: 0},
	} {
		err := write(step.token, step.fails)
		if step.token < 1 {
			if err == nil || !strings.Contains(err.Error(), "expected the token of a lease") {
				t.Errorf("token %d: %v", step.token, err)
			}
			continue
		}
		if !errors.Is(err, step.want) {
			t.Errorf("token %d: %v, expected %v", step.token, err, step.want)
		}
		if stale, ok := errors.AsType[*fence.StaleError](err); ok && (stale.Resource != id || stale.Token != step.token || stale.Highest <= step.token) {
			t.Errorf("token %d: %+v", step.token, stale)
		}
	}
	landed, err := db.landings(t.Context(), id)
	if want := fmt.Sprint([]int64{exact, exact, exact + 1, greatest}); err != nil || fmt.Sprint(landed) != want {
		t.Errorf("landed %v, %v; expected %s", landed, err, want)
	}
}

// servesHTTP: Handler over an SQLStore, where a failed answer undoes the effect.
func servesHTTP(t *testing.T, db *database) {
	t.Helper()
	store := &fence.SQLStore{DB: db.DB}
	id := row()
	status := http.StatusOK
	h := fence.Handler(store, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tx, err := fence.Tx(r.Context())
		if err != nil {
			t.Error(err)
			return
		}
		if err := land(r.Context(), tx, id, tokenOf(r)); err != nil {
			t.Error(err)
		}
		if status == 0 {
			panic("boom")
		}
		w.WriteHeader(status)
	}), fence.ResourceBy(func(*http.Request) string { return id }))
	send := func(token int64, answer int) (w *httptest.ResponseRecorder) {
		defer func() { _ = recover() }()
		status = answer
		w = httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", http.NoBody)
		fence.SetToken(r, token)
		h.ServeHTTP(w, r)
		return w
	}
	for _, step := range []struct {
		token        int64
		answer, want int
		highest      string
	}{
		{token: 5, answer: 201, want: 201},
		{token: 9, answer: 409, want: 409}, // undone, and its mark with it
		{token: 9, answer: 0},              // a panic, undone as well
		{token: 6, answer: 200, want: 200},
		{token: 5, answer: 200, want: 412, highest: "6"},
		{token: exact, answer: 200, want: 200},
		{token: exact - 1, answer: 200, want: 412, highest: strconv.FormatInt(exact, 10)},
	} {
		w := send(step.token, step.answer)
		if step.answer == 0 {
			continue
		}
		if w.Code != step.want || w.Header().Get(fence.Header) != step.highest {
			t.Errorf("token %d: status %d, highest %q: %s", step.token, w.Code, w.Header().Get(fence.Header), w.Body)
		}
	}
	landed, err := db.landings(t.Context(), id)
	if want := fmt.Sprint([]int64{5, 6, exact}); err != nil || fmt.Sprint(landed) != want {
		t.Errorf("landed %v, %v; expected %s", landed, err, want)
	}
	never := func(context.Context) error { t.Error("the effect ran"); return nil }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Do(ended, id, greatest, never); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended ctx: %v", err)
	}
	if err := store.Do(t.Context(), id, 0, never); err == nil || !strings.Contains(err.Error(), "expected the token of a lease") {
		t.Errorf("token 0: %v", err)
	}
	if _, err := fence.Tx(t.Context()); err == nil || !strings.Contains(err.Error(), "SQLStore") {
		t.Errorf("a context without a transaction: %v", err)
	}
}

// keepsTheHighest: writers of several holders at once, each in a transaction of
// its own, in each of the ways to guard.
func keepsTheHighest(t *testing.T, db *database) {
	t.Helper()
	store := &fence.SQLStore{DB: db.DB}
	marked := func(write func(context.Context, session, string, string, int64) error) func(context.Context, string, int64) error {
		return func(ctx context.Context, id string, token int64) error {
			return in(ctx, db, func(tx *sql.Tx) error {
				if err := write(ctx, tx, id, "closed", token); err != nil {
					return err
				}
				return land(ctx, tx, id, token)
			})
		}
	}
	const markOfResource = "SELECT token FROM fencing_marks WHERE resource = $1"
	ways := []struct {
		mark     string
		needsRow bool
		write    func(ctx context.Context, id string, token int64) error
	}{
		{markOf, true, marked(setStatus)},
		{markOf, false, marked(putStatus)},
		{markOfResource, false, func(ctx context.Context, id string, token int64) error {
			return in(ctx, db, func(tx *sql.Tx) error {
				if err := (fence.Marks{}).Raise(ctx, tx, id, token); err != nil {
					return err
				}
				return land(ctx, tx, id, token)
			})
		}},
		{markOfResource, false, func(ctx context.Context, id string, token int64) error {
			return store.Do(ctx, id, token, func(ctx context.Context) error {
				tx, err := fence.Tx(ctx)
				if err != nil {
					return err
				}
				return land(ctx, tx, id, token)
			})
		}},
	}
	rapid.Check(t, func(rt *rapid.T) {
		way := ways[rapid.IntRange(0, len(ways)-1).Draw(rt, "way")]
		sent := rapid.SliceOfN(tokens(), 1, 8).Draw(rt, "tokens")
		id := row()
		if way.needsRow {
			if _, err := db.ExecContext(t.Context(), "INSERT INTO orders (id, status) VALUES ($1, 'placed')", id); err != nil {
				rt.Fatal(err)
			}
		}
		l := &ledger{}
		var all sync.WaitGroup
		for _, token := range sent {
			all.Go(func() {
				err := way.write(t.Context(), id, token)
				switch stale, ok := errors.AsType[*fence.StaleError](err); {
				case ok && (stale.Token != token || stale.Highest <= token):
					l.fault("%v", err)
				case ok:
					l.refuse(token)
				case err != nil:
					l.fault("token %d: %v", token, err)
				}
			})
		}
		all.Wait()
		var err error
		if l.landed, err = db.landings(t.Context(), id); err != nil {
			rt.Fatal(err)
		}
		var left int64
		if err := db.QueryRowContext(t.Context(), way.mark, id).Scan(&left); err != nil {
			rt.Fatal(err)
		}
		for _, fault := range l.check(sent, left) {
			rt.Error(fault)
		}
	})
}
