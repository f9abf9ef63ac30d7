package lockkit

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// show says for people what a value is: a number with its digits, and of anything
// else the kind only, because an item that is not a lock may hold anybody's data.
func show(v types.AttributeValue) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case *types.AttributeValueMemberN:
		return "the number " + v.Value
	case *types.AttributeValueMemberS:
		if v.Value == "" {
			return "an empty string"
		}
		return fmt.Sprintf("a string (%d bytes)", len(v.Value))
	case *types.AttributeValueMemberM:
		return "a map"
	case *types.AttributeValueMemberL:
		return "a list"
	case *types.AttributeValueMemberBOOL:
		return "a boolean"
	case *types.AttributeValueMemberNULL:
		return "null"
	case *types.AttributeValueMemberB:
		return "binary data"
	default:
		return "a set"
	}
}
