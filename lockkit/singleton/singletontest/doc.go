// Package singletontest tests jobs of package singleton: on virtual time, against
// an in-memory DynamoDB, and with a crash after every request.
//
//	// The same lines as in the program's main, with the process's client.
//	func program(p *singletontest.Process) singleton.Work {
//		return reporter{db: p.Client(), table: "reports"}.work
//	}
//
//	func TestReport(t *testing.T) {
//		got := singletontest.Run(t, spec, program, singletontest.At(monday), singletontest.Setup(tables))
//		// got.Result.Outcome, got.World.DB.Item("reports", ...)
//	}
//
//	func TestCrashPoints(t *testing.T) {
//		t.Log(singletontest.CrashEverywhere(t, spec, program, oneReport, singletontest.Setup(tables)))
//	}
//
// [Run] delivers one tick. [Test] is for stories with several deliveries and
// processes. [CrashEverywhere] finds out by itself how many requests a run makes,
// and disturbs each.
//
// # What counts as a request
//
// Whatever a process sends through [Process.Client] or [Process.Transport]: those
// of the lock, of its heartbeat and of the job, each try of the SDK for itself.
// What a job does in another way is neither counted nor cut off when its process
// dies; give it the process's clients in place of its own.
//
// # What it does not show
//
//   - A process that stands still is one whose requests stand still: its timers go
//     on, so a work that never sends anything does not notice.
//   - One thing goes wrong in a world. Two faults at once are for random tests.
//   - Crashes between two requests that touch nothing outside the process are all
//     the same crash.
//
// # Time
//
// Everything happens in a bubble of testing/synctest, which begins at midnight
// UTC 2000-01-01: minutes of waiting take no time at all, and no real socket can
// be used. A delivery waits until its tick is due, so that a tick may have any
// date from then on. None of the functions can be called within a bubble.
package singletontest
