// Package locktest is an in-memory DynamoDB for tests. It serves the real
// client of aws-sdk-go-v2 and lets a test break requests the way networks and
// services do.
//
//	db := locktest.New()
//	client := db.Client()
//	err := locktest.CreateTable(ctx, client, "locks", "pk", "sk")
//
// # Why another one
//
// A lock is only as good as the details of its conditional writes, so its tests
// need those details: numbers that keep all 38 digits, expressions with the
// service's precedence and type rules, refusals that hand out the item. Fakes
// that keep numbers in a float64 or cut expressions up at spaces and commas get
// exactly these wrong. Stand-ins that are a process of their own are exact
// enough, but a process knows nothing of the virtual time of testing/synctest,
// so a test of a lease of an hour takes an hour, and cannot be told to lose the
// answer to the third write. This package is linked into the test and does both.
//
// # Ways in
//
// [DB.Client] returns an SDK client without sockets, which works inside and
// outside synctest bubbles. [DB] itself is an aws.HTTPClient ([DB.Do]) for
// clients that are configured elsewhere, and an [net/http.Handler] for other
// processes. [DB.Item], [DB.Put] and [DB.Delete] look at and plant items without
// a request. [DB.Requests] tells what arrived, [DB.Inject] what is to go wrong.
//
// # Tests of code that takes locks
//
// [SimulateHolder], [SimulateRelease] and [SimulateDelete] do to a lock what other
// processes do to it, and [Watcher] tells when a contender has been turned away.
// They know the form of a lock item, so that tests need not, and work over any
// DynamoDB endpoint. In a synctest bubble a takeover after a lease of an hour
// takes no time at all. Package conformance checks whether an endpoint is one
// that lockkit works on.
//
// # Supported
//
//   - PutItem, GetItem, UpdateItem, DeleteItem, Query and Scan (tables, global
//     and local secondary indexes, filters, pages by Limit and by 1 MB, parallel
//     segments), BatchGetItem, BatchWriteItem, TransactGetItems and
//     TransactWriteItems with cancellation reasons and request tokens.
//   - CreateTable, DescribeTable, DeleteTable, ListTables, UpdateTimeToLive,
//     DescribeTimeToLive. A new table can be used at once.
//   - Condition, filter, key condition, update and projection expressions in
//     full, with the service's checks: reserved words, unused and undefined
//     placeholders, operand types, overlapping paths.
//   - ReturnValues, ReturnValuesOnConditionCheckFailure and consumed capacity.
//   - The limits of items, keys, numbers, expressions, batches and transactions,
//     and error codes and messages close to the service's.
//
// # Not supported
//
//   - Any other operation (PartiQL, streams, backups, tags, UpdateTable, global
//     tables): UnknownOperationException.
//   - Parameters from before expressions (Expected, AttributeUpdates,
//     KeyConditions and so on): ValidationException, since ignoring a condition
//     would be worse.
//   - Signatures and permissions: every request is let in.
//   - Throttling and conflicts by themselves: everything is serialized, so they
//     happen only when injected.
//   - Eventual consistency: reads, those of indexes too, see every write at once.
//   - Expiry by itself: see [DB.Expire].
//   - Capacity units of index writes, and statistics such as
//     ItemCollectionMetrics.
//   - The order in which the service finds several mistakes in one request, and
//     the words "1 validation error detected: " that it has lately begun to put
//     in front of some messages. Look for a part of a message, never the whole.
//   - Names of request members that differ in case only: they are taken for the
//     same, as encoding/json does.
//
// # Time
//
// The package reads and waits with package time and starts no goroutines, except
// that [FaultLate] applies its request from a timer. In a synctest bubble all
// of it is virtual: what a request waits for belongs to the bubble that sent it,
// so a DB made outside, and faults injected there, can be used inside.
//
// # Concurrency and memory
//
// A DB is safe for concurrent use; requests are applied one after another, so
// each is atomic. Items live until they are deleted, the log keeps the last
// 100,000 requests and tokens of transactions live for 10 minutes.
package locktest
