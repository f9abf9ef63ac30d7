package lockkit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// simValue is a value in the JSON of a request or an answer, as far as the
// simulation looks at it.
type simValue struct {
	S string
	N string
	M map[string]simValue
}

type simItem map[string]simValue

// simUpdate is an update, alone or as an action of a transaction.
type simUpdate struct {
	Key                       simItem
	UpdateExpression          string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues simItem
}

// sets returns the value that an update assigns to an attribute.
func (u simUpdate) sets(name string) (simValue, bool) {
	set, _, _ := strings.Cut(strings.TrimPrefix(u.UpdateExpression, "SET "), " REMOVE ")
	for assignment := range strings.SplitSeq(set, ", ") {
		alias, value, ok := strings.Cut(assignment, " = ")
		if v, there := u.ExpressionAttributeValues[value]; ok && there && u.ExpressionAttributeNames[alias] == name {
			return v, true
		}
	}
	return simValue{}, false
}

// simAction is one action of a transaction.
type simAction struct{ Update, ConditionCheck *simUpdate }

func (a simAction) key() string {
	if a.Update != nil {
		return a.Update.Key["pk"].S
	}
	return a.ConditionCheck.Key["pk"].S
}

// simRequest is what the simulation reads of a request's body.
type simRequest struct {
	operation string
	body      []byte

	simUpdate
	TransactItems      []simAction
	ClientRequestToken string
}

func readRequest(req *http.Request) (*simRequest, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	r := &simRequest{operation: operation, body: body}
	return r, json.Unmarshal(body, r)
}

func (r *simRequest) writes() bool { return r.operation != "GetItem" }

// updates returns the update of the item whose partition key begins so, or nil.
func (r *simRequest) updates(prefix string) *simUpdate {
	all := []*simUpdate{&r.simUpdate}
	for _, i := range r.TransactItems {
		all = append(all, i.Update)
	}
	for _, u := range all {
		if u != nil && u.UpdateExpression != "" && strings.HasPrefix(u.Key["pk"].S, prefix) {
			return u
		}
	}
	return nil
}

// version is the record version that the request puts on the lock, "" for none.
func (r *simRequest) version() string {
	if u := r.updates(lockKey); u != nil {
		v, _ := u.sets("rvn")
		return v.S
	}
	return ""
}

// owner is whose lease the request's version belongs to.
func (r *simRequest) owner() string {
	u := r.updates(lockKey)
	if u == nil {
		return ""
	}
	if owner, ok := u.sets("owner"); ok {
		return owner.S
	}
	at, _ := u.sets("at")
	return at.M["owner"].S
}

// holder is the owner whose lock the request checks, changes or takes.
func (r *simRequest) holder() string {
	all := []*simUpdate{&r.simUpdate}
	for _, i := range r.TransactItems {
		all = append(all, i.Update, i.ConditionCheck)
	}
	for _, u := range all {
		if u != nil && u.Key["pk"].S == lockKey {
			if owner := u.ExpressionAttributeValues[":lko"].S; owner != "" {
				return owner
			}
		}
	}
	return ""
}

// lockKey and logKey are the partition keys of the lock and of the item that
// fenced writes go to.
const (
	lockKey = "LOCK#" + name
	logKey  = "LOG"
)

// again is the request to the endpoint, whatever becomes of its sender.
func (r *simRequest) again(req *http.Request) *http.Request {
	copied := req.Clone(withoutEnd(req.Context()))
	copied.Body = io.NopCloser(bytes.NewReader(r.body))
	return copied
}

// simAnswer is what goes back to a process.
type simAnswer struct {
	status int
	body   []byte
	err    error // the connection broke instead

	Type                string `json:"__type"`
	Item                simItem
	CancellationReasons []struct{ Item simItem }
}

// shows returns the item that an answer brought along, nil for none.
func (a simAnswer) shows() simItem {
	if a.Item == nil && len(a.CancellationReasons) > 0 {
		return a.CancellationReasons[0].Item
	}
	return a.Item
}

func readAnswer(res *http.Response, err error) simAnswer {
	if err != nil {
		return simAnswer{err: err}
	}
	a := simAnswer{status: res.StatusCode}
	if a.body, a.err = io.ReadAll(res.Body); a.err == nil {
		a.err = json.Unmarshal(a.body, &a)
	}
	return a
}

// failure is an error answer of the service.
func failure(status int, code string) simAnswer {
	body := fmt.Sprintf(`{"__type":"com.amazonaws.dynamodb.v20120810#%s","message":"simulated"}`, code)
	return simAnswer{status: status, body: []byte(body), Type: code}
}

// withoutItem is a refusal of an endpoint that does not bring the item along.
func (a simAnswer) withoutItem() simAnswer {
	if a.status == http.StatusOK || a.Item == nil {
		return a
	}
	return failure(a.status, "ConditionalCheckFailedException")
}

func (a simAnswer) response(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "Content-Length": {strconv.Itoa(len(a.body))}},
		Body:   io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}
}

// lockState is a lock item as the invariants look at it.
type lockState struct {
	exists         bool
	lock           bool // it is one
	owner, version string
	token          int64
	lease          time.Duration
	kept           string // an attribute that lockkit must leave alone
}

func (s lockState) String() string {
	switch {
	case !s.exists:
		return "no item"
	case !s.lock:
		return "not a lock"
	case s.owner == "":
		return fmt.Sprintf("free, token %d", s.token)
	}
	return fmt.Sprintf("held by %.4s with token %d, version %.4s, lease %s", s.owner, s.token, s.version, s.lease)
}

func stateOf(it map[string]types.AttributeValue) lockState {
	text := func(name string) string {
		switch v := it[name].(type) {
		case *types.AttributeValueMemberS:
			return v.Value
		case *types.AttributeValueMemberN:
			return v.Value
		}
		return ""
	}
	st := lockState{exists: len(it) > 0, lock: text("_type") == "LOCK", owner: text("owner"), version: text("rvn"), kept: text("note")}
	st.token, _ = strconv.ParseInt(text("fence"), 10, 64)
	ms, _ := strconv.ParseInt(text("leaseMs"), 10, 64)
	st.lease = time.Duration(ms) * time.Millisecond
	return st
}

// cancelledBy is a transaction's cancellation by another one under way on the
// items of some of its actions.
func cancelledBy(actions int, where ...int) simAnswer {
	reasons := slices.Repeat([]string{`{"Code":"None"}`}, actions)
	for _, i := range where {
		reasons[i] = `{"Code":"TransactionConflict","Message":"simulated"}`
	}
	body := `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"simulated","CancellationReasons":[` + strings.Join(reasons, ",") + `]}`
	return simAnswer{status: http.StatusBadRequest, body: []byte(body)}
}
