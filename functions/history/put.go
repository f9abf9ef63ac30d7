package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
)

// Put keeps an event. It reports false for one that the history has already, or
// that a later one of the same run has replaced. The error is DynamoDB's, or says
// what an event lacks. It may be called for one event any number of times.
func (s *Store) Put(ctx context.Context, e events.Envelope) (kept bool, err error) {
	if e.ID == "" || e.Detail == nil {
		return false, errors.New("history: an event without an id or a detail: pass what events.DecodeOutbound returned")
	}
	detail, err := events.EncodeDetail(e.Detail)
	if err != nil {
		return false, fmt.Errorf("history: %w", err)
	}
	h := e.Detail.About()
	item := s.key(h.Job, sortKey(e))
	item[attrKind], item[attrID], item[attrDetail] = text(e.Detail.DetailType()), text(e.ID), text(string(detail))
	if s.expiry != "" {
		item[s.expiry] = &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().Add(s.retention).Unix(), 10)}
	}
	names := map[string]string{"#pk": s.partition}
	condition := "attribute_not_exists(#pk)"
	if ended, ok := e.Detail.(events.RunEnded); ok {
		item[attrOutcome] = text(ended.Outcome)
		condition += " OR attribute_not_exists(#outcome)"
		names["#outcome"] = attrOutcome
	}
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(s.table), Item: item, ConditionExpression: aws.String(condition), ExpressionAttributeNames: names,
	})
	if _, there := errors.AsType[*types.ConditionalCheckFailedException](err); there {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("history: keep event %s (%s of job %q) in table %q: %w", e.ID, e.Detail.DetailType(), h.Job, s.table, err)
	}
	return true, nil
}

// sortKey is the same for both events of a run, and an own one for any other.
func sortKey(e events.Envelope) string {
	h := e.Detail.About()
	var began time.Time
	switch d := e.Detail.(type) {
	case events.RunStarted:
		began = d.Began
	case events.RunEnded:
		began = d.Began
	default:
		return fixed(h.At) + "#" + e.ID
	}
	if !h.Tick.IsZero() {
		began = h.Tick
	}
	return fixed(began) + "#" + h.RunID
}

// Entry is one item of the history.
type Entry struct {
	EventID string
	Detail  events.Detail // RunStarted for a run that has not ended, or whose end was lost
}

// decode reads an item; what it does not know is an error.
func (s *Store) decode(item map[string]types.AttributeValue) (Entry, error) {
	get := func(name string) string {
		v, _ := item[name].(*types.AttributeValueMemberS)
		if v == nil {
			return ""
		}
		return v.Value
	}
	d, err := events.DecodeDetail(get(attrKind), json.RawMessage(get(attrDetail)))
	if err != nil {
		return Entry{}, fmt.Errorf("history: item %s %s of table %q: %w", get(s.partition), get(s.sort), s.table, err)
	}
	return Entry{EventID: get(attrID), Detail: d}, nil
}
