package fence_test

import (
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit/fence"
)

// In every kind of guard two neighbours stay apart, however large they are, and
// the refusal names both to the last digit.
func TestGuaranteeTokensAreExact(t *testing.T) {
	_, client := newTable(t)
	db := newSQLite(t)
	server := httptest.NewServer(fence.Handler(&fence.MemoryStore{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	defer server.Close()
	kinds := map[string]func(id string, token int64) error{
		"item": func(id string, token int64) error {
			return update(t, client, fence.Item{Resource: id, Attribute: id, Token: token}, dynamodb.UpdateItemInput{})
		},
		"column": func(id string, token int64) error { return putStatus(t.Context(), db, id, "closed", token) },
		"marks": func(id string, token int64) error {
			return in(t.Context(), db, func(tx *sql.Tx) error { return fence.Marks{}.Raise(t.Context(), tx, id, token) })
		},
		"http": func(id string, token int64) error {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/"+id, http.NoBody)
			if err != nil {
				return err
			}
			fence.SetToken(r, token)
			resp, err := server.Client().Do(r)
			if err != nil {
				return err
			}
			defer func() { _ = resp.Body.Close() }()
			return fence.CheckResponse(resp, id)
		},
	}
	for kind, write := range kinds {
		for _, token := range []int64{2, 1<<31 + 1, exact, exact + 2, 1<<62 + 1, greatest} {
			id := row()
			if err := write(id, token); err != nil {
				t.Errorf("%s: token %d: %v", kind, token, err)
			}
			err := write(id, token-1)
			if stale, ok := errors.AsType[*fence.StaleError](err); !ok || *stale != (fence.StaleError{Resource: id, Token: token - 1, Highest: token}) {
				t.Errorf("%s: token %d after %d: %v", kind, token-1, token, err)
			}
			if err := write(id, token); err != nil {
				t.Errorf("%s: token %d again: %v", kind, token, err)
			}
		}
	}
}
