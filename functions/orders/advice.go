package orders

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// Advised adds to an error of a read what to do about the two that a wrong table
// name leads to. variable is the environment variable that has the name.
func Advised(err error, variable string) error {
	if _, ok := errors.AsType[*types.ResourceNotFoundException](err); ok {
		return fmt.Errorf("set %s to a table that this Region has, or create it: %w", variable, err)
	}
	// DynamoDB has no type for this one.
	if api, ok := errors.AsType[smithy.APIError](err); ok && strings.Contains(api.ErrorMessage(), "does not have the specified index") {
		return fmt.Errorf("set %s to the table with the orders, or create the index: %w", variable, err)
	}
	return err
}
