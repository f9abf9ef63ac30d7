// Package cdk has the constructs that deploy singleton jobs, for any CDK app:
//
//   - [NewLockTable] makes the table that holds the locks, or takes one that
//     exists ([LockTableFromName]).
//   - [NewSingletonJob] deploys one job by its [job.Spec]: function, schedule,
//     dead-letter queues, log group, role and metrics. It makes the function from a
//     folder with a bootstrap, or works around one that you have.
//   - [NewMonitoring] adds alarms and a dashboard for jobs.
//
// They know nothing of this repository's own jobs. A mistake is an error that
// names it, not a panic: check every error before you synthesise.
//
// # What a job's role may do
//
// Exactly what its lock needs: UpdateItem, GetItem and ConditionCheckItem on the
// items of the lock table whose partition key is "LOCK#" and the name of the job,
// writing to its own log group, and PutEvents on the one bus from the one source.
// What a job does to its own data you grant to [SingletonJob.Function].
//
// # What is left out on purpose
//
// Reserved concurrency. It would queue ticks for hours behind a run that is slow,
// and a deploy fails in an account with few free executions. The lock keeps runs
// apart, and lets a tick go that came too late.
//
// Replicas of the lock table. A replica in another Region is written later, so
// two Regions could grant one lock at once.
package cdk
