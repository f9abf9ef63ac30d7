package lockkit

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// leaseKey is the context key of the current lease.
type leaseKey struct{}

// ErrNoLease says that a context carries no lease.
var ErrNoLease = errors.New("lockkit: no lease in this context: use the context of RunAsLeader's work, of a singleton run or of Lease.Context, or pass the lease and call its ConditionCheck")

// ConditionCheckFromContext returns the held check of the lease that ctx
// carries, for code that writes deep inside the work of a lease: see
// [Lease.ConditionCheck]. Contexts made by [Lease.Context], and so those of
// [LockTable.RunAsLeader], carry their lease, the innermost one where they
// nest. Code that outlives its term keeps the lease that has ended, so its
// check fails at DynamoDB, which is the point. Without a lease the error is
// [ErrNoLease].
func ConditionCheckFromContext(ctx context.Context) (types.TransactWriteItem, error) {
	l, ok := ctx.Value(leaseKey{}).(*Lease)
	if !ok {
		return types.TransactWriteItem{}, ErrNoLease
	}
	return l.ConditionCheck(), nil
}
