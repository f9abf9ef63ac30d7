package conformance

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// call is a request to an endpoint; send passes it on and returns the answer.
type call struct {
	operation string
	body      map[string]any
	send      func(body map[string]any) answer
}

type answer struct {
	status int
	body   map[string]any
	err    error // there is no answer
}

func (a answer) code() string {
	kind, _ := a.body["__type"].(string)
	return kind[strings.LastIndex(kind, "#")+1:]
}

func refuseWith(code string) answer {
	return answer{status: http.StatusBadRequest, body: map[string]any{"__type": "any#" + code, "message": "broken"}}
}

// brokenEndpoints are the in-memory DynamoDB with one defect each, of those that
// stand-ins really have.
func brokenEndpoints() map[string]func(call) answer {
	var mu sync.Mutex
	reads := map[string]answer{}
	return map[string]func(call) answer{
		"takes every condition for true": func(c call) answer {
			everywhere(c.body, "ConditionExpression", func(v any) any { return "(" + v.(string) + ") OR attribute_not_exists(zzz)" })
			return c.send(c.body)
		},
		"evaluates conditions from left to right": func(c call) answer {
			everywhere(c.body, "ConditionExpression", func(v any) any {
				condition := v.(string)
				if or, and := strings.Index(condition, " OR "), strings.Index(condition, " AND "); or > 0 && and > or && !strings.Contains(condition, "(") {
					return "(" + condition[:and] + ")" + condition[and:]
				}
				return strings.Replace(condition, "attribute_not_exists(#v) OR #v = :one AND", "(attribute_not_exists(#v) OR #v = :one) AND", 1)
			})
			return c.send(c.body)
		},
		"knows no paths": func(c call) answer {
			if condition, _ := c.body["ConditionExpression"].(string); strings.Contains(condition, ".") {
				return refuseWith(refusal)
			}
			return c.send(c.body)
		},
		"takes one operand of IN": func(c call) answer {
			if condition, _ := c.body["ConditionExpression"].(string); strings.Contains(condition, " IN (") {
				return refuseWith(invalid)
			}
			return c.send(c.body)
		},
		"keeps numbers in a float": func(c call) answer {
			everywhere(c.body, "N", func(v any) any {
				f, _ := strconv.ParseFloat(v.(string), 64)
				return strconv.FormatFloat(f, 'f', -1, 64)
			})
			return c.send(c.body)
		},
		"returns no images": func(c call) answer {
			delete(c.body, "ReturnValues")
			return c.send(c.body)
		},
		"returns the key as the image of a new item": func(c call) answer {
			a := c.send(c.body)
			if c.body["ReturnValues"] == "ALL_OLD" && a.err == nil && a.status == http.StatusOK && a.body["Attributes"] == nil {
				a.body["Attributes"] = c.body["Key"]
			}
			return a
		},
		"brings no items along": func(c call) answer {
			everywhere(c.body, "ReturnValuesOnConditionCheckFailure", func(any) any { return "NONE" })
			return c.send(c.body)
		},
		"brings items along unasked": func(c call) answer {
			if c.operation == "UpdateItem" {
				c.body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
			}
			return c.send(c.body)
		},
		"takes what is invalid": func(c call) answer {
			if a := c.send(c.body); a.code() != invalid {
				return a
			}
			return answer{status: http.StatusOK, body: map[string]any{}}
		},
		"removes nothing": func(c call) answer {
			if c.operation == "DeleteItem" {
				return answer{status: http.StatusOK, body: map[string]any{}}
			}
			if update, _ := c.body["UpdateExpression"].(string); strings.Contains(update, " REMOVE ") {
				return answer{status: http.StatusOK, body: map[string]any{}}
			}
			return c.send(c.body)
		},
		"applies actions one by one": func(c call) answer {
			actions, _ := c.body["TransactItems"].([]any)
			for _, action := range actions {
				if a := c.send(map[string]any{"TransactItems": []any{action}}); a.err != nil || a.status != http.StatusOK {
					return a
				}
			}
			if actions != nil {
				return answer{status: http.StatusOK, body: map[string]any{}}
			}
			return c.send(c.body)
		},
		"drops transactions": func(c call) answer {
			if c.operation == "TransactWriteItems" {
				return answer{status: http.StatusOK, body: map[string]any{}}
			}
			return c.send(c.body)
		},
		"mixes reasons up": func(c call) answer {
			a := c.send(c.body)
			if reasons, ok := a.body["CancellationReasons"].([]any); ok {
				slices.Reverse(reasons)
			}
			return a
		},
		"knows no request tokens": func(c call) answer {
			if c.operation == "TransactWriteItems" {
				c.body["ClientRequestToken"] = rand.Text()
			}
			return c.send(c.body)
		},
		"reads late": func(c call) answer {
			a := c.send(c.body)
			if c.operation != "GetItem" || a.err != nil {
				return a
			}
			mu.Lock()
			defer mu.Unlock()
			key, _ := json.Marshal(c.body)
			last, ok := reads[string(key)]
			if reads[string(key)] = a; ok {
				return last
			}
			return a
		},
		"invents items": func(c call) answer {
			a := c.send(c.body)
			if c.operation == "GetItem" && a.err == nil && a.body["Item"] == nil {
				a.body["Item"] = map[string]any{"pk": map[string]any{"S": "x"}}
			}
			return a
		},
		"makes tables": func(c call) answer {
			everywhere(c.body, "TableName", func(v any) any { return strings.TrimSuffix(v.(string), "-not") })
			return c.send(c.body)
		},
		"forgets pages": func(c call) answer {
			a := c.send(c.body)
			delete(a.body, "LastEvaluatedKey")
			return a
		},
	}
}

// everywhere replaces each value of a name, however deep.
func everywhere(v any, name string, by func(any) any) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if k == name {
				v[k] = by(inner)
			} else {
				everywhere(inner, name, by)
			}
		}
	case []any:
		for _, inner := range v {
			everywhere(inner, name, by)
		}
	}
}
