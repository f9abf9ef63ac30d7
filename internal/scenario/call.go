package scenario

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/solotick/solotick/functions/orders"
)

// call is one request as the endpoint saw it.
type call struct {
	At        time.Time `json:"at"`
	Caller    string    `json:"caller"` // the environment that sent it
	Operation string    `json:"operation"`
	OnLock    bool      `json:"on_lock"`           // it is a request for the lock's item, or a transaction that renews it
	Order     string    `json:"order,omitempty"`   // the order that it writes
	Refused   string    `json:"refused,omitempty"` // the code of the error that it was answered
	Stale     bool      `json:"stale,omitempty"`   // a transaction whose held check failed
}

// callerOf is what a function's environment calls itself in the user agent: the
// random end of its log stream's name.
func callerOf(logStream string) string {
	_, instance, _ := strings.Cut(logStream, "]")
	return "solotick-" + instance
}

type actionBody struct {
	TableName string
	Key       map[string]struct{ S string }
}

// readCall reads what it needs of a request and leaves the rest to DynamoDB.
func readCall(r *http.Request, body []byte, lockTable string) call {
	c := call{}
	for field := range strings.FieldsSeq(r.UserAgent()) {
		if id, ok := strings.CutPrefix(field, "app/"); ok {
			c.Caller = id
		}
	}
	_, c.Operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var in struct {
		actionBody
		TransactItems []struct{ Update *actionBody }
	}
	if json.Unmarshal(body, &in) != nil {
		return c
	}
	c.OnLock = in.TableName == lockTable
	if c.Operation == "UpdateItem" {
		c.Order = in.Key[orders.AttrID].S
	}
	for _, item := range in.TransactItems {
		switch {
		case item.Update == nil:
		case item.Update.TableName == lockTable:
			c.OnLock = true
		default:
			c.Order = item.Update.Key[orders.AttrID].S
		}
	}
	return c
}

// answered notes an error and why it was one.
func (c *call) answered(status int, body []byte) {
	if status < http.StatusBadRequest {
		return
	}
	var fault struct {
		Type                string `json:"__type"`
		CancellationReasons []struct{ Code string }
	}
	c.Refused = http.StatusText(status)
	if json.Unmarshal(body, &fault) != nil {
		return
	}
	if i := strings.LastIndex(fault.Type, "#"); fault.Type != "" {
		c.Refused = fault.Type[i+1:]
	}
	// The held check is the first action of the job's transactions.
	c.Stale = c.Order != "" && len(fault.CancellationReasons) > 0 && fault.CancellationReasons[0].Code == "ConditionalCheckFailed"
}
