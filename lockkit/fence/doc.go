// Package fence guards resources that are outside the lock's own transaction: a
// DynamoDB item elsewhere, a row of an SQL database, a service behind HTTP. Each
// write carries the fencing token of its writer's lease, and the resource keeps
// the highest token it has seen and refuses a lower one. That is what makes a
// holder harmless that was paused for longer than its lease and wakes up beside
// its successor. Where the resource is in DynamoDB, in the account and Region of
// the lock, prefer the held check of package lockkit: it refuses a stale write
// also before the successor has written anything.
//
// A token is an int64 from 1 up, as lockkit's leases carry it; the package does
// not know where it comes from.
//
// # Guarantees
//
// Each of these has a test named after it.
//
//   - The highest token stays. Whatever the order in which writes arrive, none
//     lands after one of a higher token (TestGuaranteeItemKeepsTheHighest,
//     TestGuaranteeSQLKeepsTheHighest, TestGuaranteeHandlerKeepsTheHighest).
//   - Comparison, raise and effect are one step: a conditional write, a statement
//     or transaction, or a turn of its own in a [Store], whose effects on one
//     resource never run at once (TestGuaranteeEffectsDoNotOverlap).
//   - A refusal is a [StaleError] that names resource, token and the highest
//     token where it is known, and what a condition of the caller's own refused is
//     none (TestGuaranteeRefusalsAreStale).
//   - Tokens are exact up to the largest int64 (TestGuaranteeTokensAreExact).
//   - In SQL, what is not a token changes no row that is there
//     (TestGuaranteeSQLRefusesWhatIsNoToken).
//   - Over HTTP, what is not a token is refused before anything happens
//     (TestGuaranteeBadHeadersAreRefused), and a request that was cut off has no
//     effect (TestGuaranteeACutOffRequestHasNoEffect).
//
// # Not guaranteed
//
// A stale write is refused only once the successor has written its token to the
// same resource. Until then the mark is the old holder's own, and its write
// passes. So a new holder writes its token before it reads: otherwise a stale
// write can land between its read and its write, and the new holder overwrites
// what it has never seen. One request can do both, see the examples.
//
// Whoever writes around the guard is not refused. Marks of two locks cannot be
// compared: all writers of a resource take their tokens from one lock. A mark
// that is deleted with its resource, by hand or by a time to live, is forgotten,
// and the next writer sets it anew. An equal token is let through, since a holder
// writes more than once and sends again what had no answer: the guard orders
// holders and does not make a holder's own writes happen once.
//
// # DynamoDB items
//
// [Item] adds a condition and the mark to an UpdateItem, a PutItem or an action
// of a transaction, and tells from the refusal whether it was stale. It costs no
// request of its own.
//
// # SQL
//
// [Column] guards a row by a column of it, in one statement; [Marks] keeps marks
// in a table of their own, and raises one in the transaction of the effect. Both
// are right under READ COMMITTED. The package works on database/sql and brings no
// driver.
//
// # HTTP
//
// The client puts its token on each request with [SetToken], and [CheckResponse]
// turns the refusal into a StaleError. [Handler] is the server's side, over a
// [Store]: [SQLStore] for services, [MemoryStore] for tests and demonstrations.
package fence
