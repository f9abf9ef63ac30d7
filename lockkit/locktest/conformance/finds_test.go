package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit/locktest"
)

// endpoint serves a DB with a defect, as an aws.HTTPClient.
type endpoint struct {
	db     *locktest.DB
	defect func(call) answer
}

func (e endpoint) Do(r *http.Request) (*http.Response, error) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	operation := r.Header.Get("X-Amz-Target")
	a := e.defect(call{operation: operation[strings.LastIndex(operation, ".")+1:], body: body, send: func(body map[string]any) answer {
		return e.send(r, body)
	}})
	if a.err != nil {
		return nil, a.err
	}
	text, err := json.Marshal(a.body)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: r}, nil
}

func (e endpoint) send(r *http.Request, body map[string]any) (a answer) {
	text, err := json.Marshal(body)
	if err != nil {
		return answer{err: err}
	}
	inner := r.Clone(r.Context())
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	res, err := e.db.Do(inner)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	a.status, a.err = res.StatusCode, json.NewDecoder(res.Body).Decode(&a.body)
	return a
}

// findings are, for each defect, checks that must fail on it.
var findings = map[string][]string{
	"takes every condition for true": {
		"conditional create", "concurrent creates", "lock: one winner", "lock: takeover", "lock: deleted", "lock: not a lock", "lock: failover",
		"lock: held", "lock: held, refused without the item",
	},
	"evaluates conditions from left to right": {"precedence"},
	"knows no paths":                             {"nested paths"},
	"takes one operand of IN":                    {"many operands", "lock: heartbeat"},
	"keeps numbers in a float":                   {"exact numbers", "arithmetic", "comparison of numbers", "transaction is refused"},
	"returns no images":                          {"old image", "lock: taken over"},
	"returns the key as the image of a new item": {"old image of a new item"},
	"brings no items along":                      {"refusal with the item", "transaction is refused"},
	"brings items along unasked":                 {"refusal without the item"},
	"takes what is invalid":                      {"reserved words", "size of keys", "size of items", "placeholders", "broken expressions", "transaction touches an item once"},
	"removes nothing":                            {"removal"},
	"applies actions one by one":                 {"transaction all or nothing", "transaction is refused"},
	"drops transactions":                         {"transaction commits", "lock: held check"},
	"mixes reasons up":                           {"transaction is refused"},
	"knows no request tokens":                    {"request token"},
	"reads late":                                 {"consistent reads", "lock: acquire, renew, release"},
	"invents items":                              {"missing item"},
	"makes tables":                               {"missing table"},
	"forgets pages":                              {"index pages"},
}

// Each defect is found, and each check finds one.
func TestBrokenEndpoints(t *testing.T) {
	checks, useful := map[string]check{}, map[string]bool{}
	for _, check := range append(endpointChecks(), lockChecks()...) {
		checks[check.name] = check
	}
	for name, defect := range brokenEndpoints() {
		if len(findings[name]) == 0 {
			t.Errorf("an endpoint that %s: which checks should find that?", name)
		}
		for _, finder := range findings[name] {
			useful[finder] = true
			if found := checkBroken(t, checks[finder], defect); found == nil {
				t.Errorf("an endpoint that %s passes the check %q", name, finder)
			}
		}
	}
	for name := range checks {
		if !useful[name] {
			t.Errorf("no broken endpoint fails the check %q", name)
		}
	}
}

// checkBroken runs one check on an endpoint with a defect.
func checkBroken(t *testing.T, check check, defect func(call) answer) (found error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db := locktest.New()
		if err := createTable(t.Context(), db.Client(), "things"); err != nil {
			t.Fatal(err)
		}
		client := dynamodb.New(dynamodb.Options{
			Region: "us-east-1", HTTPClient: endpoint{db, defect}, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		})
		ctx, cancel := context.WithTimeout(t.Context(), checkBound)
		defer cancel()
		found = check.on(ctx, client, "things")
	})
	return found
}
