package lockkit

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Verb is the kind of write an extension is asked about.
type Verb int

// The writes of a lease.
const (
	// VerbAcquire takes the lock. Its condition names the state the lock must be in.
	VerbAcquire Verb = iota + 1
	// VerbRenew prolongs the lease, by the heartbeat or by Renew.
	VerbRenew
	// VerbRelease gives the lock back.
	VerbRelease
	// VerbTransact is a renewal that is the first action of a transaction.
	VerbTransact
)

// String returns the verb's name in lower case.
func (v Verb) String() string {
	switch v {
	case VerbAcquire:
		return "acquire"
	case VerbRenew:
		return "renew"
	case VerbRelease:
		return "release"
	case VerbTransact:
		return "transact"
	default:
		return fmt.Sprintf("verb(%d)", int(v))
	}
}

// Write describes one write of a lease to an extension.
type Write struct {
	Verb  Verb
	Lock  string    // name of the lock
	Owner string    // owner id of this acquire, the same for all writes of its lease
	Token int64     // fencing token; 0 while acquiring
	Sent  time.Time // this process's clock just before the first send
	// Seen is the newest item this acquire or lease has been shown, nil when
	// there was none yet. It may be out of date.
	Seen Item
}

// Addition is what an extension adds to one write of a lease. The zero value
// adds nothing. Expressions are DynamoDB's; attribute names must stand behind
// aliases ("#tick"), values behind placeholders (":tick"), and no alias may
// begin with "#lk" or ":lk", which are lockkit's own. The attributes that the
// lock itself lives by (its keys, _type, owner, rvn, fence, leaseMs, holder,
// at, until) must not be changed.
type Addition struct {
	Condition string            // joined to lockkit's own condition by AND
	Set       []string          // assignments, such as "#tick = :tick"
	Remove    []string          // paths, such as "#cursor"
	Names     map[string]string // aliases to attribute names
	Values    map[string]types.AttributeValue
}

// Extension puts a runner's own state on the lock item: it is asked before each
// write of a lease, and what it adds is carried by that same write, so that it
// costs no request of its own and is applied together with the write or not at
// all. It is given per acquire with [Extend]; one that serves two acquires must
// be safe for both. Embed [NoExtension] so that a later version of this
// interface does not break yours.
//
// The methods are called by whichever goroutine sends the write, never two at
// a time for one lease, and must not block or call the lease.
//
// Why an interface that speaks DynamoDB's expressions and not callbacks that
// edit an item: the write must stay a single conditional UpdateItem, and only an
// expression can say "unless that tick is done already" to the service itself.
// Once runners depend on it, it cannot change; NoExtension is the way it grows.
type Extension interface {
	// Add returns what the write carries besides lockkit's own part. It is asked
	// once for each body that is composed; a body that is sent again is the same.
	Add(w Write) Addition
	// Refuse judges the item that a look read or that a refused write returned,
	// and returns the extension's refusal, or nil when it has none. It is asked
	// only about items that are locks; item is nil for a lock without an item.
	// An acquire is refused by it before it counts as held, and ends with that
	// error. A renewal or a release that DynamoDB refused, although owner,
	// token and version were right, returns it, and the lease goes on.
	Refuse(w Write, item Item) error
	// Wrote is handed what an applied write returned: the item before it for an
	// acquire, nil when there was none, the item after it for a renewal or a
	// transaction, and the item before it for a release. When an acquire's
	// answer was lost it is the item that the acquire left, recognised by
	// w.Owner as its owner.
	Wrote(w Write, item Item)
	// Landed reports whether the item proves that an earlier send of this release
	// or transaction was applied although its answer was lost: the item shows what
	// it carried. It is asked with the item that refused a later send; for a
	// release that may be free or a successor's.
	Landed(w Write, item Item) bool
}

// NoExtension adds nothing and refuses nothing. Embed it in an extension and
// write only the methods that matter.
type NoExtension struct{}

var _ Extension = NoExtension{}

// Add adds nothing.
func (NoExtension) Add(Write) Addition { return Addition{} }

// Refuse refuses nothing.
func (NoExtension) Refuse(Write, Item) error { return nil }

// Wrote does nothing.
func (NoExtension) Wrote(Write, Item) {}

// Landed takes a lock that is free and still has the lease's token as proof.
func (NoExtension) Landed(w Write, item Item) bool {
	r, err := decode(item)
	return err == nil && r.exists && !r.held() && r.token == w.Token
}

// check finds the mistakes that DynamoDB would answer in words that do not
// name the extension, or not at all.
func (a Addition) check() error {
	for alias, name := range a.Names {
		if !strings.HasPrefix(alias, "#") || strings.HasPrefix(alias, "#lk") {
			return fmt.Errorf("lockkit: extension names attribute %q by alias %q: expected \"#\" and a name that does not begin with \"lk\"", name, alias)
		}
	}
	for alias := range a.Values {
		if !strings.HasPrefix(alias, ":") || strings.HasPrefix(alias, ":lk") {
			return fmt.Errorf("lockkit: extension uses the placeholder %q: expected \":\" and a name that does not begin with \"lk\"", alias)
		}
	}
	return nil
}
