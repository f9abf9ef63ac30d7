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
//		// run.Tick is the time the job was due, run.Token() the fencing token
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
//   - A tick's work happens at least once (TestGuaranteeAtLeastOnce), provided
//     that the tick is delivered again after an error (Lambda's retries) or that
//     a later tick covers it.
//   - A tick that a run has completed is not run again
//     (TestGuaranteeDoneTickIsNotRunAgain), however often it is delivered; nor is
//     an older one (TestGuaranteeOlderTickIsNotRun). The acquire's own condition
//     refuses it.
//   - A run that crashed does not block the job
//     (TestGuaranteeCrashedRunIsTakenOver): the next run takes over after one
//     whole lease of silence, never earlier, and reports what the dead run left.
//   - A tick counts as completed only if the work returned nil before its ctx
//     ended (TestGuaranteeLateNilCompletesNothing). Returning nil because ctx
//     ended does not complete it.
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
//     its tick (TestGuaranteeStopEndsTheWork). Nobody else's run is
//     (TestStopForAnotherTokenIsNoStop).
//
// # What it does not promise
//
//   - Not exactly once. A crash after an effect and before the release repeats the
//     effect. Make the work repeatable, or let the effect carry [Run.ConditionCheck]
//     or [Run.Token].
//   - Not that two runs never overlap. A process that is paused for longer than its
//     lease wakes up beside its successor, and no ctx can end a write that is under
//     way. Only fencing makes that harmless: fence your writes.
//   - Not that each tick runs. A tick is skipped while another run works; if that
//     one fails, its own retry or the next tick must cover what was skipped. Write
//     the job to do what is due, and not what belongs to one tick.
//   - Deleting the lock's item, or restoring the table, forgets which ticks are
//     completed.
//   - A panic on a goroutine that the work started ends the process; the lock is
//     then free after one lease.
//
// # Outcomes
//
//	outcome      meaning                                              error to Lambda
//	completed    the work returned nil in time, under the lease       no
//	skipped      another holder proved alive                          no
//	duplicate    this tick is done, or runs right now (proved alive)  no
//	superseded   a newer tick is done                                 no
//	paused       an operator has paused the job                       no
//	expired      older than the job's MaxAge                          no
//	stopped      an operator asked the run to stop                    no
//	failed       the work returned an error or panicked               yes
//	lost         the lease ended before the work was done             yes
//	out_of_time  the work's time ended before the work was done       yes
//	blocked      no lease, and no proof that anybody else works       yes
//
// An error is an [OutcomeError]; the others are nil, so that Lambda does not try
// again. A run that could not begin (an input that is no tick, a spec that is not
// valid, a deadline too near) is an error without an outcome, sent no request and
// called no work. A completed run whose release had no answer is completed with
// marked false and a warning: whether its tick is run again depends on what
// DynamoDB did with that release.
//
// # When another run works
//
// The spec's Policy says what a run does about a live holder. A silent one is taken
// over under each of them.
//
//	skip_when_alive  watch the holder until it proves alive, then skip (the default)
//	skip_at_once     skip at once a holder that wrote a moment ago by its own stamp
//	wait             contend until only WorkTime is left for the work, then skip
//
// A skipped delivery is gone for Lambda: if the holder fails after all, its own
// retry or the next tick covers it.
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
// than what waiting out a dead holder can take is refused before any request. A
// holder whose lease on the item is too long for the run's time is watched until
// the time for the work ends: alive means skipped, silent means blocked.
//
// While it contends, a run rides out failures that may pass, such as throttling
// or an endpoint that is down, until the time for the work ends.
//
// Without a deadline (outside Lambda) nothing limits the work, and Do waits for
// it, also after its ctx has ended.
//
// # Ticks
//
// A manual run without a tick neither reads nor changes which ticks are done, and
// no age limit applies to manual runs. Force runs a done tick again and never
// moves the last completed tick back. One job has one schedule: two schedules
// would call each other's ticks done.
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
//
// # Table
//
// Nothing is needed beyond the lock's item. A run adds to it: tick, the last
// completed tick in Unix milliseconds; run, the record of the run that holds the
// lock; prev, that of the one before, with its outcome and error. Both records
// together stay under 400 bytes, so that a write costs one unit for job names of
// up to 64 bytes. An acquire removes the table's time-to-live attribute from the
// item of a job, because its expiry would forget which ticks are done.
package singleton
