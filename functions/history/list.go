package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/events"
)

// Query bounds a list. The zero value lists all.
type Query struct {
	From, To time.Time // both included; zero: open
	Limit    int       // newest entries; 0: all
}

// List returns the history of a job, newest first. Entries of a kind that this
// version does not know are left out. A job without a history has none; that is
// no error. The read is eventually consistent.
func (s *Store) List(ctx context.Context, job string, q Query) ([]Entry, error) {
	in := &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": s.partition},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(prefix + job)},
		ScanIndexForward:          aws.Bool(false),
	}
	if !q.From.IsZero() || !q.To.IsZero() {
		from, to := "0", ":" // before and after every digit
		if !q.From.IsZero() {
			from = fixed(q.From)
		}
		if !q.To.IsZero() {
			to = fixed(q.To) + "$" // after "#"
		}
		*in.KeyConditionExpression += " AND #sk BETWEEN :from AND :to"
		in.ExpressionAttributeNames["#sk"] = s.sort
		in.ExpressionAttributeValues[":from"], in.ExpressionAttributeValues[":to"] = text(from), text(to)
	}
	var entries []Entry
	for pages := dynamodb.NewQueryPaginator(s.client, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("history: read the history of job %q in table %q: %w", job, s.table, err)
		}
		for _, item := range page.Items {
			e, err := s.decode(item)
			if errors.Is(err, events.ErrUnknownType) {
				continue
			}
			if err != nil {
				return nil, err
			}
			entries = append(entries, e)
			if q.Limit > 0 && len(entries) == q.Limit {
				return entries, nil
			}
		}
	}
	return entries, nil
}
