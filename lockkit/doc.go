// Package lockkit is a lease on a named lock in a DynamoDB table, with a fencing
// token. A lock that nobody fences is advice: a holder that was paused for longer
// than its lease wakes up beside its successor, and only writes that carry the
// token, or the held check, can refuse it. The package gives you both; it does
// not and cannot promise that two processes never run at once.
//
//	locks, err := lockkit.New(client, "locks")
//	lease, err := locks.Acquire(ctx, "nightly-report", 30*time.Second)
//	defer lease.Release(ctx)
//	work, cancel := lease.Context(ctx)
//	defer cancel()
//	err = lease.Write(work, items...) // refused once the lease is another's
//
// # Guarantees
//
// Each of these has a test named after it.
//
//   - Tokens rise (TestGuaranteeTokensRise). Every acquire raises the fencing
//     token of its lock, and no token is given out twice. A lock whose item was
//     deleted goes on from the wall clock in milliseconds, so its tokens do not
//     go back (TestGuaranteeTokensSurviveDeletion).
//   - The holder stops first (TestGuaranteeHolderStopsFirst). A holder that runs
//     is told that its lease is over before any contender may take the lock,
//     also when it cannot reach DynamoDB and whatever the wall clocks say.
//   - Losing is final (TestGuaranteeLosingIsFinal). A lease that has ended is
//     never renewed, and a late answer does not bring it back.
//   - The held check refuses stale writes (TestGuaranteeHeldCheckRefusesStale). A
//     transaction with [Lease.ConditionCheck] commits only while the lock item
//     shows this owner and this token, at the moment it commits.
//   - A write is applied once (TestGuaranteeWriteIsAppliedOnce). [Lease.Write]
//     writes its items once or not at all whatever becomes of its requests, and
//     says so when it cannot know which.
//   - A dead holder is replaced (TestGuaranteeDeadHolderIsReplaced). A contender
//     that waits takes the lock over one lease after the holder's last renewal
//     was seen.
//   - A late request brings nothing back (TestGuaranteeLateRenewalBringsNothingBack).
//     A renewal that was delayed in the network cannot make a live holder look
//     dead.
//   - A lost answer is no lost lock (TestGuaranteeLostAnswerIsNoLostLock). An
//     acquire, renewal or release that was applied although its answer was lost
//     is recognised when it is sent again.
//   - A foreign item is left alone (TestGuaranteeForeignItemIsLeftAlone). What
//     is not a lock is never overwritten, and nothing here deletes a lock item.
//   - A successor's lock is left alone (TestGuaranteeReleaseSparesSuccessor). A
//     release that comes too late touches nothing.
//   - A leader's lock outlasts its work (TestGuaranteeLeaderLockOutlastsWork). An
//     election never releases the lock while the work of its term still runs, and
//     never starts a term on a lease that has ended.
//   - A transaction is applied once (TestGuaranteeTransactionIsAppliedOnce). What
//     [Lease.Transact] sends is applied once or not at all, whatever happens to
//     its requests, and only while the lease holds the lock.
//
// # Not guaranteed
//
//   - That one process runs at a time. Two may while one of them is paused, by a
//     garbage collection, a stopped container or a suspended machine: the loss
//     signal comes before a successor only while the process that waits for it is
//     scheduled. Only a fence makes that harmless.
//   - Anything for whoever ignores the token.
//   - Any order but that of the holders of this one lock: the tokens of two locks
//     say nothing about each other.
//   - One holder in a global table that is written in more than one Region. Keep
//     the table to one writing Region.
//   - That nothing arrives late. A request that was delayed in the network for
//     longer than its sender waited may hold a free lock for one lease.
//   - Rising tokens once an item was deleted, in four cases: the clock of the next
//     acquire is behind by more than the whole life of the deleted lock; an acquire
//     that was composed before the item was created arrives after its deletion,
//     and starts from the wall clock of then; a client of another language creates
//     the lock anew and starts its tokens at 1; the table was restored from a
//     backup. Where a resource remembers tokens, do not delete its lock, and use
//     no time to live that may remove it.
//
// # When a resource cannot take a token
//
// Package fence guards what lies outside the lock's transaction and can take a
// token. When a resource cannot take one, in falling order of safety: put
// something in front of it that can refuse (a row, an item, a conditional write
// of an object store); make the operation idempotent, so that twice is as good as
// once; accept the risk, size it against the lease, and write down that you did.
// Correctness that cannot be fenced should not rest on this lock, nor on any other.
//
// # When not to use it
//
// When the work is short and idempotent, when failover must be faster than a
// second, when you need agreement on data and not on a holder, or when you run
// Kubernetes, etcd or Consul already: their leases serve as well.
//
// # Time
//
// The holder counts its lease from before it sends a write, the contender from
// after the answer that first showed the record version, each on its own
// monotonic clock; no two clocks are compared. The one assumption is that clocks
// run at about the same rate. The safety margin covers the rest:
//
//	0               the last renewal that succeeded is sent
//	0.9 of a lease  the loss signal, with the default margin of a tenth
//	1.0 of a lease  the earliest takeover, plus the takeover delay
//
// Leases renew themselves every third of their duration. The holder also ends a
// lease when its wall clock says that it is over, because the monotonic clock
// stands still in a suspended machine. The time stamp that a holder leaves on
// the item tells contenders when to look, never whether the lease is over.
//
// # Cost per call
//
// To acquire a free lock, to renew and to release take one UpdateItem each. A
// held lock costs one refused write, which brings the item along, and from then
// on one strongly consistent read per look, about three per lease, and one write
// when it is free or due. Each write is one write unit while the item is under 1
// KB. [Lease.Write] and [Lease.Transact] are one request each; a transaction costs
// twice the write units of its items, and two for the lock's own action.
//
// # Elections
//
// [LockTable.RunAsLeader] contends for as long as a service runs, and runs its
// work under one lease after the other. It tells an [ElectionError], which no
// retry mends, from an error of the work: a service may pause after the one, until
// somebody has mended it, and stop after the other. There is an example.
//
// # Observability
//
// [WithLogger] logs what no caller sees, [WithTracer] is a hook for spans and
// metrics, and package lockotel is its OpenTelemetry adapter. Lock names are
// constants of the code and may be logged; nothing here logs an item's data.
//
// # Goroutines
//
// Everything here may be called from many goroutines. A [LockTable] has none of
// its own. A [Lease] that waits for its next renewal has none either, only two
// timers; each renewal runs on a goroutine of its own for as long as its request
// takes, and Release waits for it. The writes of one lease never overlap.
//
// # Table and IAM
//
// One item per lock in a table you have already, keyed by strings: partition key
// "LOCK#" and the lock's name, and, where the table has a sort key, "LOCK". The
// form of the item is fixed, see [AttrType] and the names beside it. The
// permissions are dynamodb:UpdateItem and dynamodb:GetItem on the table, for held
// checks dynamodb:ConditionCheckItem, and what the items of a transaction need
// besides. The condition dynamodb:LeadingKeys with "LOCK#" and a name keeps a role
// to its own lock.
//
// # Extensions
//
// lockkit knows nothing of schedules or jobs. A runner that wants its own state
// on the lock item implements [Extension], and its conditions and updates travel
// in the lease's own writes.
package lockkit
