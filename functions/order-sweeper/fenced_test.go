package main

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

func TestRefusal(t *testing.T) {
	other := errors.New("no connection")
	cancelled := func(codes ...string) error {
		err := &types.TransactionCanceledException{}
		for _, code := range codes {
			err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
		}
		return err
	}
	const none, refused = "None", "ConditionalCheckFailed"
	strange := cancelled(none, "ItemCollectionSizeLimitExceeded")
	short := cancelled(refused)
	for name, test := range map[string]struct{ err, want error }{
		"success":                   {nil, nil},
		"another error":             {other, other},
		"lease lost":                {cancelled(refused, none), lockkit.ErrLeaseLost},
		"lease lost and not placed": {cancelled(refused, refused), lockkit.ErrLeaseLost},
		"not placed":                {cancelled(none, refused), errNotPlaced},
		"conflict on the lock":      {cancelled("TransactionConflict", none), errBusy},
		"conflict on the order":     {cancelled(none, "TransactionConflict"), errBusy},
		"throttled":                 {cancelled(none, "ThrottlingError"), errBusy},
		"out of capacity":           {cancelled("ProvisionedThroughputExceeded", none), errBusy},
		"another reason":            {strange, strange},
		"another transaction":       {short, short},
	} {
		if got := refusal(test.err); !errors.Is(got, test.want) {
			t.Errorf("%s: %v, expected %v", name, got, test.want)
		}
	}
}
