package fence_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit/fence"
)

func TestItemRefusesMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		guard fence.Item
		want  string
	}{
		"no token":       {fence.Item{Resource: "report"}, "expected the token of a lease"},
		"negative token": {fence.Item{Resource: "report", Token: -1}, "expected the token of a lease"},
		"mark on a key":  {fence.Item{Resource: "report", Token: 1, Attribute: "pk"}, "name another"},
	} {
		_, err1 := c.guard.Update(&dynamodb.UpdateItemInput{Key: reportKey()})
		_, err2 := c.guard.Put(&dynamodb.PutItemInput{Item: reportKey()})
		_, err3 := c.guard.TransactUpdate(types.Update{Key: reportKey()})
		_, err4 := c.guard.TransactPut(types.Put{Item: reportKey()})
		for _, err := range []error{err1, err2, err3, err4} {
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "report") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	guard := fence.Item{Resource: "report", Token: 1}
	if err := guard.Refused(nil); err != nil {
		t.Errorf("nil became %v", err)
	}
	other := errors.New("throttled")
	if err := guard.Refused(other); !errors.Is(err, other) || err.Error() != "throttled" {
		t.Errorf("another error became %v", err)
	}
	if err := guard.RefusedAt(other, 0); !errors.Is(err, other) || err.Error() != "throttled" {
		t.Errorf("another error became %v", err)
	}
}

// DynamoDB would only say that two document paths overlap.
func TestItemRefusesAnUpdateOfTheMarkItself(t *testing.T) {
	names := map[string]string{"#f": "fence", "#other": "x", "#fence": "y"}
	guard := fence.Item{Resource: "report", Token: 1}
	for expression, touches := range map[string]bool{
		"SET fence = :v":    true,
		"set a = :v, #f=:v": true,
		"SET#f=:v":          true,
		"REMOVE a, fence":   true,
		"ADD #f :v":         true,
		"SET a = if_not_exists(a, :v) DELETE #f :v":  true,
		"SET fence.x = :v":                           true,
		"SET fence[0] = :v":                          true,
		"SET #f.#other = :v":                         true,
		"SET a = fence":                              false,
		"SET a = if_not_exists(fence, :v), b = :v":   false,
		"SET a = list_append(b, #f)":                 false,
		"SET a.fence = :v, #other.#f = :v":           false,
		"SET #fence = :v, fences = :v REMOVE fenced": false,
		"SET a = b + fence ADD c :v":                 false,
	} {
		in := dynamodb.UpdateItemInput{Key: reportKey(), UpdateExpression: aws.String(expression), ExpressionAttributeNames: names}
		_, err := guard.Update(&in)
		_, err2 := guard.TransactUpdate(types.Update{Key: reportKey(), UpdateExpression: in.UpdateExpression, ExpressionAttributeNames: names})
		for _, err := range []error{err, err2} {
			if refused := err != nil; refused != touches || refused && !strings.Contains(err.Error(), `"fence" itself`) {
				t.Errorf("%q: %v, want a refusal: %v", expression, err, touches)
			}
		}
	}
}

// What the mark's attribute holds instead is named in words, and nobody's text is
// shown.
func TestItemNamesWhatIsNoMark(t *testing.T) {
	guard := fence.Item{Resource: "report", Token: 1}
	for want, v := range map[string]types.AttributeValue{
		"is a string (6 bytes),":    str("secret"),
		"is an empty string,":       str(""),
		"is a map,":                 &types.AttributeValueMemberM{},
		"is a list,":                &types.AttributeValueMemberL{},
		"is a boolean,":             &types.AttributeValueMemberBOOL{},
		"is null,":                  &types.AttributeValueMemberNULL{},
		"is binary data,":           &types.AttributeValueMemberB{},
		"is a set,":                 &types.AttributeValueMemberNS{},
		"is the number 1.5,":        &types.AttributeValueMemberN{Value: "1.5"},
		"is the number 1" + zeros40: &types.AttributeValueMemberN{Value: "1" + zeros40},
	} {
		refused := guard.Refused(&types.ConditionalCheckFailedException{Item: attributes{"fence": v}})
		_, put := guard.Put(&dynamodb.PutItemInput{Item: attributes{"fence": v}})
		switch v.(type) {
		case *types.AttributeValueMemberN, *types.AttributeValueMemberNULL:
			put = refused // it may be there, and the mark takes its place
		}
		for _, err := range []error{refused, put} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

var zeros40 = strings.Repeat("0", 40)
