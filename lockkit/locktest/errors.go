package locktest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// serviceError is an error answer of the service. It travels inside the package
// as an error and becomes the JSON body of an answer at its edge.
type serviceError struct {
	status  int
	code    string
	message string
	item    item                 // ConditionalCheckFailedException with ALL_OLD
	reasons []cancellationReason // TransactionCanceledException
}

// Error implements error; the direct methods of DB return these to tests.
func (e *serviceError) Error() string { return e.code + ": " + e.message }

// cancellationReason says what one action of a cancelled transaction met.
type cancellationReason struct {
	Code    string `json:"Code"`
	Message string `json:"Message,omitempty"`
	Item    item   `json:"Item,omitempty"`
}

const (
	codeConditionFailed = "ConditionalCheckFailedException"
	codeValidation      = "ValidationException"
	codeNotFound        = "ResourceNotFoundException"
	codeInUse           = "ResourceInUseException"
	codeSerialization   = "SerializationException"
	codeUnknown         = "UnknownOperationException"
	codeCanceled        = "TransactionCanceledException"
	codeConflict        = "TransactionConflictException"
	codeTokenMismatch   = "IdempotentParameterMismatchException"
	codeThroughput      = "ProvisionedThroughputExceededException"
	codeInternal        = "InternalServerError"
)

// namespace is the prefix of a code in __type. Errors that are found before a
// request reaches DynamoDB itself come from the framework in front of it.
func namespace(code string) string {
	switch code {
	case codeValidation, codeSerialization, codeUnknown, "ThrottlingException":
		return "com.amazon.coral.validate#"
	default:
		return "com.amazonaws.dynamodb.v20120810#"
	}
}

func newError(code, format string, args ...any) *serviceError {
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	return &serviceError{status: http.StatusBadRequest, code: code, message: message}
}

func validation(format string, args ...any) *serviceError {
	return newError(codeValidation, format, args...)
}

// invalidParameter is the service's lead-in for values that are wrong in themselves.
func invalidParameter(format string, args ...any) *serviceError {
	return validation("One or more parameter values were invalid: "+format, args...)
}

func conditionFailed(old item) *serviceError {
	e := newError(codeConditionFailed, "The conditional request failed")
	e.item = old
	return e
}

// errorBody is the JSON of an error answer. The service spells "Message" with a
// capital in cancelled transactions only.
type errorBody struct {
	Type            string               `json:"__type"`
	Message         string               `json:"message,omitempty"`
	CanceledMessage string               `json:"Message,omitempty"`
	Item            item                 `json:"Item,omitempty"`
	Reasons         []cancellationReason `json:"CancellationReasons,omitempty"`
}

// body encodes the error as the service does.
func (e *serviceError) body() []byte {
	b := errorBody{Type: namespace(e.code) + e.code, Message: e.message, Item: e.item, Reasons: e.reasons}
	if e.reasons != nil {
		b.Message, b.CanceledMessage = "", e.message
	}
	body, err := json.Marshal(b)
	if err != nil { // cannot happen: every part encodes itself
		return []byte(`{"__type":"` + namespace(codeInternal) + codeInternal + `"}`)
	}
	return body
}
