// Package singleton turns a function into a scheduled job that runs once at a
// time and skips the ticks it has already completed. A run is a short-lived
// process: it starts, contends for the job's lock a little longer than one
// lease, works under the lease, and is gone. [Handler] makes the handler of a
// Lambda function, [Do] does the same elsewhere. The job's numbers are a
// [job.Spec].
//
//	func main() {
//		// ... locks from lockkit.New
//		lambda.Start(singleton.Handler(locks, nightlyReport, report))
//	}
//
//	func report(ctx context.Context, run *singleton.Run) error {
//		// what was due after run.Since up to and including run.Tick
//		return run.Commit(ctx, put(summary)) // these writes and "tick done", or neither
//	}
//
// # What it promises
//
// Each of these has a test named after it.
//
//   - One run at a time (TestGuaranteeOneRunAtATime), as far as a lease can
//     promise it: a run works only under the lease of the job's lock, and the
//     work's ctx ends before anybody else may take that over
//     (TestGuaranteeWorkEndsBeforeATakeover).
//   - Without Commit, a tick's work happens at least once
//     (TestGuaranteeAtLeastOnce), provided that the tick is delivered again after
//     an error (Lambda's retries) or that a later tick covers it.
//   - With [Run.Commit], what is in its transaction happens exactly once
//     (TestGuaranteeExactlyOnceWithCommit), under the same proviso; nothing else
//     the work does is in that promise. Once Commit was called, nothing but a
//     Commit that succeeded completes the tick
//     (TestGuaranteeOnlyACommitThatSucceededCompletes). Nor does returning nil after
//     a Checkpoint that failed (TestGuaranteeCheckpointThatFailedIsNotPassedOver).
//   - A job longer than one invocation goes on where its last [Run.Checkpoint] was
//     (TestGuaranteeLongJobGoesOnAtItsCursor), and each page is written exactly once
//     together with its cursor (TestGuaranteeEveryEffectOnce). A request that comes
//     late brings no older cursor back and writes no page twice
//     (TestGuaranteeLateCheckpointIsNeitherDoubledNorBroughtBack,
//     TestGuaranteeOlderCheckpointDoesNotLandAfterANewerOne,
//     TestGuaranteeCopyOfACancelledBodyIsNoSecondEffect).
//   - The intervals (Since, Tick] of the runs that completed follow each other
//     without hole or overlap (TestGuaranteeIntervalsAreSeamless), as far back as
//     the spec's CatchUp.
//   - A tick that a run has completed is not run again
//     (TestGuaranteeDoneTickIsNotRunAgain), however often it is delivered; nor is
//     an older one (TestGuaranteeOlderTickIsNotRun). The acquire's own condition
//     refuses it.
//   - A run that crashed does not block the job
//     (TestGuaranteeCrashedRunIsTakenOver): the next run takes over after one
//     whole lease of silence, never earlier, and reports what the dead run left.
//   - Without a Commit, a tick counts as completed only if the work returned nil
//     before its ctx ended (TestGuaranteeLateNilCompletesNothing). Returning nil
//     because ctx ended does not complete it. A Commit that succeeds does: also one
//     that is sent after the time for the work, with a context that has not ended.
//   - The lease does not outlive the handler (TestGuaranteeLeaseEndsWithTheHandler):
//     it is released before the handler returns, and when the work panics. A work
//     that ignores its ctx keeps the lease and ends the process
//     (TestGuaranteeStubbornWorkEndsTheProcess).
//   - A run that skips is sure of a live holder (TestGuaranteeSkipSawARenewal): it
//     has seen it renew. A holder that stays silent is none
//     (TestGuaranteeSilentHolderIsNoSkip, TestGuaranteeWaitForASilentHolderIsNoSkip).
//     SkipAtOnce gives that up for its one request
//     (TestGuaranteeSkipAtOnceCostsOneRequest), but not for what may be the retry
//     of a crashed run (TestGuaranteeSkipAtOnceWatchesWhatMayBeARetry).
//   - A paused job does not run (TestGuaranteePausedJobDoesNotRun): the acquire's
//     own condition refuses it, for people's invokes too.
//   - A run that is asked to stop is told at its next renewal, and does not complete
//     its tick (TestGuaranteeStopEndsTheWork), nor anything by Commit or Checkpoint after that
//     (TestGuaranteeStoppedRunCompletesNothing). Nobody else's run is
//     (TestStopForAnotherTokenIsNoStop).
//
// # What it does not promise
//
//   - Not exactly once for what is outside the transaction of a Commit or
//     Checkpoint: a mail, a call, a write of its own. A crash after such an effect
//     and before the tick is completed repeats it. Make it repeatable, or let it
//     carry [Run.ConditionCheck] or [Run.Token], or a key made of the tick.
//   - Not that two runs never overlap. A process that is paused for longer than its
//     lease wakes up beside its successor, and no ctx can end a write that is under
//     way. Only fencing makes that harmless: fence your writes.
//   - Not that each tick runs. A tick is skipped while another run works; if that
//     one fails, its own retry or the next tick must cover what was skipped. Write
//     the job for the interval after [Run.Since], never for the single tick.
//   - Deleting the lock's item, or restoring the table, forgets which ticks are
//     completed, and how far a long one had come.
//   - A panic on a goroutine that the work started ends the process, as kill -9
//     does, and nothing releases; the lock is then free after one lease
//     (TestAProcessThatEndsInTheMiddleOfARunIsTakenOver, with real processes).
//
// # Outcomes
//
//	outcome      meaning                                              error to Lambda
//	completed    Commit succeeded, or without one the work            no
//	             returned nil in time, under the lease
//	skipped      another holder proved alive                          no
//	queued       as skipped, and the tick waits for it on the item    no
//	duplicate    this tick is done, or runs right now (proved alive)  no
//	superseded   a newer tick is done                                 no
//	paused       an operator has paused the job                       no
//	expired      older than the job's MaxAge, when it is delivered    no
//	             or, for a tick that waited, when its turn comes
//	stopped      an operator or a newer run asked the run to stop     no
//	failed       the work returned an error or panicked               yes
//	lost         the lease ended before the work was done             yes
//	out_of_time  the work's time ended before it was done, or it      yes
//	             yielded, or its transaction had no answer
//	blocked      no lease, and no proof that anybody else works       yes
//
// An error is an [OutcomeError]; the others are nil, so that Lambda does not try
// again. A run that could not begin (an input that is no tick, a spec that is not
// valid, a deadline too near) is an error without an outcome, sent no request and
// called no work. A completed run whose release had no answer is completed with
// marked false and a warning: whether its tick is run again depends on what
// DynamoDB did with that release. After a Commit that succeeded the outcome is
// completed whatever follows; an error of the work, a lost lease or a panic is
// then the result's Error, a warning in the log, and no error to Lambda (the panic
// goes on).
//
// A Commit whose answer never came is looked up before the outcome is decided: the
// item shows whether it was applied. Where that cannot be told either, the outcome
// is lost or out_of_time, and the next delivery of the tick finds out.
//
// # When another run works
//
// The spec's Policy says what a run does about a live holder. A silent one is taken
// over under each of them.
//
//	skip_when_alive  watch the holder until it proves alive, then skip (the default)
//	skip_at_once     skip at once a holder that wrote a moment ago by its own stamp
//	wait             contend until only WorkTime is left for the work, then skip
//	queue            leave the tick to the holder, which runs it before it releases
//	supersede        ask the run of an older tick to stop, and contend
//
// docs/policies.md says when to use which and what each costs
// (TestPoliciesCostWhatTheirTableSays). A delivery that was skipped or queued is
// gone for Lambda: if the holder fails after all, its own retry or the next tick
// covers it. A tick that is queued is not forgotten
// (TestGuaranteeQueuedTickIsNotForgotten): it waits on the lock's item for the
// next run that completes. Under queue the work may be called several times in one
// invocation, once for each tick; each has its own log line, and the answer is
// that of the last that was run. A tick waits only for a holder whose record says
// that it looks for one (TestTickIsQueuedOnlyForAHolderThatRunsIt), and it is not
// run once it is older than MaxAge (TestQueuedTickThatIsTooOldIsNotRun).
//
// # Controls
//
// An operator pauses a job, resumes it, stops a run and frees the lock of a dead
// one with package control, without a deploy. A pause holds back new runs and
// leaves a running one alone; a stop ends the ctx of one run with [ErrStopped], a
// third of the lease later at most. Both bind the runs of this package only:
// whoever else contends for the lock is not held back.
//
// # Time
//
// A run contends for the lease found on the item + the lock table's takeover
// delay + the spec's ContendMargin. The work's ctx ends the spec's Reserve before
// the deadline of the invocation; a work that has not returned when a quarter of
// the reserve is left is given up: its outcome is logged, the lock is not
// released, and the process ends by a panic. A deadline that lies no further away
// than what waiting out a dead holder can take and the work needs of WorkTime is
// refused before any request. A holder whose lease on the item is too long for the
// run's time is watched until the time for the work ends: alive means skipped,
// silent means blocked.
//
// While it contends, a run rides out failures that may pass, such as throttling
// or an endpoint that is down, until the time for the work ends.
//
// Without a deadline (outside Lambda) nothing limits the work, and Do waits for
// it, also after its ctx has ended. Under wait and supersede nothing but the end of
// ctx limits the contending either.
//
// # Ticks
//
// A manual run without a tick neither reads nor changes which ticks are done, nor
// the cursor, and no age limit applies to manual runs. Force runs a done tick
// again and never moves the last completed tick back. One job has one schedule:
// two schedules would call each other's ticks done.
//
// A run is for the interval from its Since, the last completed tick, to its Tick.
// The first run of a job begins CatchUp before its tick. Where CatchUp cuts an
// interval that is longer, the result and the log line have the gap; no run
// covers it. A forced run of a done tick begins ExpectedInterval before its tick,
// because what the tick covered is not known any more.
//
// # Jobs longer than one invocation
//
// [Run.Checkpoint] stores a cursor with its tick, [Run.Yield] ends a run that has
// no time for the next page. The next run of the job, be it Lambda's retry or the
// next tick, gets the cursor and the tick it belongs to. If an older tick is
// delivered after a newer one was begun, it is the newer one that is run to its
// end, because its pages are written; the result names it as RunsTick. The write
// that completes a tick removes the cursor; one that belongs to a tick that is
// done counts for nobody. A forced run of a done tick goes on at its own cursor,
// and keeps none while the cursor of a later tick is stored.
//
// # Goroutines
//
// The work runs on a goroutine of its own, which the run joins, or ends the
// process. Runs share nothing but the LockTable, so that any number may run side
// by side in one process; for the same job they contend like two processes.
//
// # Cost per tick
//
//	free lock          1 write to acquire, 1 to release, 1 for each third of a lease worked
//	done tick          1 refused write
//	paused job         1 refused write
//	live holder        1 refused write, 1 read where the holder stamps its writes, else up to 4
//	dead holder        1 refused write, about 3 reads, then as a free lock
//	expired tick       nothing
//	Write, Commit,     1 transaction each: 2 write units for the lock's item, and 2 for
//	  Checkpoint         each KB of each item; the last two count as a renewal
//	a Commit without   1 renewal or read more
//	  any answer
//	a cursor           the lock's item grows by it: with 512 bytes each write of the
//	                     lock costs 2 units, with 4 KB it costs 5
//
// # Table
//
// Nothing is needed beyond the lock's item. A run adds to it: tick, the last
// completed tick in Unix milliseconds; step, the count of the job's Commits and
// Checkpoints; cursor, where a long tick goes on; pending, a tick that waits under
// the policy Queue; run, the record of the run that holds the lock; prev, that of
// the one before, with its outcome and error. Operators add paused and stop. Both
// records together stay under 400 bytes, so that without a cursor a write costs
// one unit for job names of up to 64 bytes. An acquire removes the table's
// time-to-live attribute from the item of a job, because its expiry would forget
// which ticks are done.
package singleton
