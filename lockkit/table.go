package lockkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The shortest and the longest lease. Milliseconds count, anything finer is an
// error.
const (
	MinLease = time.Second
	MaxLease = 24 * time.Hour
)

// Client is what lockkit calls of DynamoDB; *dynamodb.Client is one. It must be
// safe for concurrent use, and must not change what an input points to: requests
// share parts.
type Client interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// LockTable acquires leases on the locks of one DynamoDB table. Hold one per
// table and process: it remembers which record versions it has seen, which
// TryAcquire needs to take over from a dead holder, and two of them contend
// like two processes. It starts no goroutine, needs no closing and is safe for
// concurrent use.
type LockTable struct {
	client Client
	table  string
	cfg    config
	memory memory
	forms  forms
	clock  clock
}

type config struct {
	partitionKey  string
	sortKey       string // "" for a table without one
	label         string
	ttl           string // "" for no time to live
	retention     time.Duration
	takeoverDelay time.Duration
	margin        float64
	interval      time.Duration // 0: look by the holder's rhythm
	skew          time.Duration // of WithMaxClockSkew
	bounded       bool          // take over by until
	logger        *slog.Logger  // nil: silent
	tracer        Tracer        // nil: none
}

// Option sets up a [LockTable].
type Option func(*config)

// WithKeys names the table's key attributes, both of type string. The default
// is "pk" and "sk"; an empty sortKey is a table that has none.
func WithKeys(partitionKey, sortKey string) Option {
	return func(c *config) { c.partitionKey, c.sortKey = partitionKey, sortKey }
}

// WithHolderLabel puts a name that operators know, such as that of a pod or a
// log stream, on the locks this LockTable holds: 1 to 256 characters. It is
// shown, never compared. It must not carry data.
func WithHolderLabel(label string) Option {
	return func(c *config) { c.label = label }
}

// WithTTL makes every acquire, renewal and release set the attribute to the
// wall clock plus the retention, in epoch seconds, so that DynamoDB removes
// locks that nobody has used for that long. A retention of 0 means 30 days; the
// least is a day, and it must be longer than the longest lease. Turn on time to
// live for that attribute on the table yourself. All processes of a lock must
// name the same attribute or none: one that does not renew it lets a held lock
// come due.
func WithTTL(attribute string, retention time.Duration) Option {
	return func(c *config) { c.ttl, c.retention = attribute, retention }
}

// WithTakeoverDelay makes a takeover wait this much longer than a whole lease
// without a change. It gives a holder that is about to end more time to notice
// and lengthens failover by the same. The default is 0.
func WithTakeoverDelay(d time.Duration) Option {
	return func(c *config) { c.takeoverDelay = d }
}

// WithSafetyMargin makes the loss signal fire this fraction of the lease before
// the lease's end, so that work can stop before a successor may start. The
// default is 0.1; 0 is allowed, and it must be less than 0.5.
func WithSafetyMargin(fraction float64) Option {
	return func(c *config) { c.margin = fraction }
}

// WithPollInterval makes Acquire look at a held lock after half to one interval,
// drawn anew each time so that contenders do not march in step, instead of
// following the holder's rhythm. A takeover that is due is never delayed by it.
func WithPollInterval(d time.Duration) Option {
	return func(c *config) { c.interval = d }
}

// WithMaxClockSkew lets this LockTable take over at once from a holder that said
// when its process is certainly gone (see [Until]), as soon as its own wall clock
// is past that by more than d. It is the one place where two wall clocks are
// compared, so it is off unless you know a bound for how far apart they can be.
func WithMaxClockSkew(d time.Duration) Option {
	return func(c *config) { c.skew, c.bounded = d, true }
}

// New makes a LockTable over a table that exists already. It sends no request:
// a wrong table name shows at the first acquire.
func New(client Client, table string, opts ...Option) (*LockTable, error) {
	c := config{partitionKey: "pk", sortKey: "sk", margin: 0.1}
	for _, o := range opts {
		o(&c)
	}
	if c.ttl != "" && c.retention == 0 {
		c.retention = 30 * 24 * time.Hour
	}
	var faults []error
	if client == nil {
		faults = append(faults, errors.New("the client is nil: pass a *dynamodb.Client"))
	}
	if table == "" {
		faults = append(faults, errors.New("the table name is empty: pass the name or ARN of the table that holds the locks"))
	}
	if table != "" && !isTable(table) {
		faults = append(faults, fmt.Errorf("table name %q: expected 3 to 255 letters, digits, \"_\", \"-\" and \".\", or the table's ARN", table))
	}
	faults = append(faults, c.check()...)
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("lockkit: new lock table: %w", err)
	}
	return &LockTable{client: client, table: table, cfg: c, clock: system()}, nil
}

// isTable reports whether s can be a table's name or ARN. It is no regular
// expression, because compiling one that counts to 255 took a Lambda function a
// tenth of its init.
func isTable(s string) bool {
	if arn, ok := strings.CutPrefix(s, "arn:"); ok {
		owner, name, found := strings.Cut(arn, ":table/")
		return found && owner != "" && isTableName(name)
	}
	return isTableName(s)
}

func isTableName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return 3 <= len(s) && len(s) <= 255
}

func (c *config) check() []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	taken := map[string]string{}
	for _, name := range reserved() {
		taken[name] = "an attribute of the lock item"
	}
	for _, key := range []string{c.partitionKey, c.sortKey} {
		if key == "" {
			continue
		}
		if what, there := taken[key]; there {
			fault("key attribute %q is already %s: name the table's two key attributes, which must differ from the lock's own", key, what)
		}
		taken[key] = "a key of the table"
	}
	if c.partitionKey == "" {
		fault("the partition key's name is empty: name the table's partition key, such as \"pk\"")
	}
	if n := utf8.RuneCountInString(c.label); n > 256 || !utf8.ValidString(c.label) {
		fault("holder label of %d characters: expected valid UTF-8 of at most 256 characters", n)
	}
	if c.ttl != "" {
		if what, there := taken[c.ttl]; there {
			fault("time-to-live attribute %q is %s: choose another name", c.ttl, what)
		}
		if c.retention < MaxLease {
			fault("time-to-live retention of %s: expected at least %s, the longest lease", c.retention, MaxLease)
		}
	}
	if c.takeoverDelay < 0 {
		fault("takeover delay of %s: expected 0 or more", c.takeoverDelay)
	}
	if !(c.margin >= 0 && c.margin < 0.5) {
		fault("safety margin of %v: expected a fraction of the lease from 0 to less than 0.5", c.margin)
	}
	if c.skew < 0 {
		fault("maximum clock skew of %s: expected 0 or more", c.skew)
	}
	if c.interval < 0 || c.interval > 0 && c.interval < 10*time.Millisecond {
		fault("poll interval of %s: expected at least 10ms, or 0 to follow the holder's rhythm", c.interval)
	}
	return faults
}

// Table returns the name of the table.
func (t *LockTable) Table() string { return t.table }

// HolderLabel returns the label of [WithHolderLabel], "" without one.
func (t *LockTable) HolderLabel() string { return t.cfg.label }

// TakeoverDelay returns the delay of [WithTakeoverDelay].
func (t *LockTable) TakeoverDelay() time.Duration { return t.cfg.takeoverDelay }

// Client returns the client that New was given, for a runner or a tool of
// operators that reads and writes the same table.
func (t *LockTable) Client() Client { return t.client }

// TTLAttribute returns the attribute of [WithTTL], "" without one.
func (t *LockTable) TTLAttribute() string { return t.cfg.ttl }

// Key returns the key of a lock's item in the table, for a runner or a tool of
// operators. The item is the caller's to change. A name that no lock can have is
// an error.
func (t *LockTable) Key(name string) (Item, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	key := t.key(name)
	if t.cfg.sortKey != "" {
		key[t.cfg.sortKey] = stringValue(sortKey) // key's own is shared by all
	}
	return key, nil
}

func (t *LockTable) key(name string) Item {
	key := Item{t.cfg.partitionKey: stringValue(keyPrefix + name)}
	if t.cfg.sortKey != "" {
		key[t.cfg.sortKey] = lockSort
	}
	return key
}

// checkName refuses before any request what DynamoDB would refuse after one,
// and what would let two spellings look like one lock.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("lockkit: the lock name is empty: expected 1 byte or more")
	case !utf8.ValidString(name):
		return fmt.Errorf("lockkit: lock name %q is not valid UTF-8", name)
	case len(name) > maxKeySize-len(keyPrefix):
		return fmt.Errorf("lockkit: lock name of %d bytes (%s…): expected at most %d, what fits a partition key after %q", len(name), strings.ToValidUTF8(name[:20], ""), maxKeySize-len(keyPrefix), keyPrefix)
	}
	return nil
}

func checkLease(name string, lease time.Duration) error {
	if lease < MinLease || lease > MaxLease || lease%time.Millisecond != 0 {
		return fmt.Errorf("lockkit: lock %q: lease of %s: expected %s to %s in whole milliseconds", name, lease, MinLease, MaxLease)
	}
	return nil
}

// conditionCheck is the held check for one owner and token.
func (t *LockTable) conditionCheck(name, owner string, token int64) types.TransactWriteItem {
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                 aws.String(t.table),
		Key:                       t.key(name),
		ConditionExpression:       aws.String("#lko = :lko AND #lkf = :lkf"),
		ExpressionAttributeNames:  map[string]string{"#lko": AttrOwner, "#lkf": AttrFence},
		ExpressionAttributeValues: Item{":lko": stringValue(owner), ":lkf": numberValue(token)},
	}}
}
