package wire

import (
	"math/big"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The calendar ends where neither JSON nor RFC 3339 can write a time any more.
var (
	firstMS = time.Date(1, 1, 1, 0, 0, 0, int(time.Millisecond), time.UTC).UnixMilli() // one above the zero time, which means none
	lastMS  = time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
)

// expectedMoment is what an error expects of an attribute that is a time.
const expectedMoment = "a whole number of Unix milliseconds before the year 10000"

// moment reads Unix milliseconds; zero for whatever is not.
func moment(v types.AttributeValue) time.Time {
	ms, ok := Integer(v)
	if !ok || ms < firstMS || ms > lastMS {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// end reads the time from which on DynamoDB finds a number to be at most the
// current whole millisecond: it compares any number, also one with a fraction. ok
// is false for what is no number.
func end(v types.AttributeValue) (at time.Time, ok bool) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return time.Time{}, false
	}
	ms, _, err := big.ParseFloat(n.Value, 10, precision, big.ToPositiveInf)
	if err != nil {
		return time.Time{}, false
	}
	// Where it lies outside of the calendar it is long over, or holds as long as
	// there is one.
	switch {
	case ms.Cmp(new(big.Float).SetInt64(lastMS)) > 0:
		return time.UnixMilli(lastMS).UTC(), true
	case ms.Cmp(new(big.Float).SetInt64(firstMS)) < 0:
		return time.UnixMilli(firstMS).UTC(), true
	}
	whole, rounded := ms.Int64()
	if rounded == big.Below {
		whole++
	}
	return time.UnixMilli(whole).UTC(), true
}

// precision in bits is enough for DynamoDB's 38 digits.
const precision = 128
