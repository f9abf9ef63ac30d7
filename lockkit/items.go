package lockkit

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxTransactItems is how many actions of its own a caller may put into one
// [Lease.Write] or [Lease.Transact]: DynamoDB takes 100, and one is the lock's.
const MaxTransactItems = 99

// checkItems refuses before any request what DynamoDB would refuse without
// saying why: an action of the caller's on the lock's own item.
func (l *Lease) checkItems(operation string, items []types.TransactWriteItem) error {
	if len(items) > MaxTransactItems {
		return fmt.Errorf("lockkit: %s %q: %d items: expected at most %d beside the lock's own", operation, l.name, len(items), MaxTransactItems)
	}
	lock := l.t.key(l.name)
	for i, it := range items {
		table, key := target(it)
		same := sameTable(aws.ToString(table), l.t.table)
		for name, v := range lock {
			same = same && reflect.DeepEqual(key[name], v)
		}
		if same {
			return fmt.Errorf("lockkit: %s %q: item %d of %d (index %d) is on the lock's own key, where the transaction has an action of the lease's already, and DynamoDB allows one action per item: leave it out (a held check is not needed here)", operation, l.name, i+1, len(items), i)
		}
	}
	return nil
}

// sameTable reports whether two names are of one table of this account and
// Region, which a transaction cannot leave; either may be an ARN.
func sameTable(a, b string) bool {
	return a[strings.LastIndexByte(a, '/')+1:] == b[strings.LastIndexByte(b, '/')+1:]
}

// tables lists the tables that the items are in, once each.
func tables(items []types.TransactWriteItem) []string {
	var names []string
	for _, it := range items {
		table, _ := target(it)
		if name := strconv.Quote(aws.ToString(table)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// target returns the table and the key of an action; a put's key is in its item.
func target(it types.TransactWriteItem) (table *string, key Item) {
	switch {
	case it.Put != nil:
		return it.Put.TableName, it.Put.Item
	case it.Update != nil:
		return it.Update.TableName, it.Update.Key
	case it.Delete != nil:
		return it.Delete.TableName, it.Delete.Key
	case it.ConditionCheck != nil:
		return it.ConditionCheck.TableName, it.ConditionCheck.Key
	default:
		return nil, nil
	}
}
