package wire

import "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

// Show says for people what a value is: a number with its digits, and of anything
// else the kind only, because it may be anybody's data.
func Show(v types.AttributeValue) string {
	switch v := v.(type) {
	case nil:
		return "absent"
	case *types.AttributeValueMemberN:
		return "the number " + Cut(v.Value, maxShown)
	case *types.AttributeValueMemberS:
		if v.Value == "" {
			return "an empty string"
		}
		return "a string"
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

// maxShown is more than the 38 digits of DynamoDB, a sign, a point and an exponent.
const maxShown = 48
