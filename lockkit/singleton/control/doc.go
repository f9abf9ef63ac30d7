// Package control is what an operator can do to a job without a deploy: pause
// and resume it, stop a run, and free the lock of a holder that is dead. It
// writes to the item of the job's lock, and the runs of package singleton honour
// what is there. It is for tools of operators; a job needs none of it.
//
//	ctl := control.New(locks) // with the options that the job's functions have
//	state, err := ctl.Look(ctx, "nightly-report")
//	err = ctl.Stop(ctx, "nightly-report", state.Token, "jane")
//
// # Guarantees
//
// Each of these has a test named after it.
//
//   - A control acts on what its caller saw (TestGuaranteeControlsActOnWhatWasSeen).
//     Resume names the pause, Stop the holder's token, Release owner and token;
//     where the item is not like that any more, nothing is written and the
//     [ChangedError] shows what is there now.
//   - A pause keeps a job from running that has never run
//     (TestGuaranteePauseOfAJobThatNeverRan), and fences off no running holder
//     (TestGuaranteePauseFencesNobodyOff).
//   - What is not a lock is never overwritten (TestGuaranteeForeignItemIsLeftAlone).
//   - No control makes a dead holder look alive (TestGuaranteeControlsAreNoSignOfLife):
//     none of them changes what contenders watch.
//   - A control whose answer was lost is recognised when it is sent again
//     (TestGuaranteeLostAnswerIsNoFailure).
//
// # Not guaranteed
//
// A pause does not stop a run that works already; that is what Stop is for, and a
// work that ignores its context is not stopped by it either. Both bind the runs
// of package singleton only: another client of the lock does not know them.
// Release believes its caller that the holder is dead. If it lives after all, it
// loses the lease at its next renewal and works beside its successor until then:
// only resources that check the token are protected from that, from the
// successor's first write on where they keep the highest token, and at once where
// they use the held check.
//
// # Cost
//
// Each control is one conditional write, of one write unit while the item is
// under 1 KB, and Look is one consistent read. A try that has no answer is sent
// again, up to four in all, of 3 seconds each: without a deadline a control takes 13
// seconds at most, and twice that where an endpoint leaves out the item that refused
// it. A ctx that had ended before is an error that says that nothing was sent; one
// that ends later leaves it unknown, which is [ErrNoAnswer]. The permissions are dynamodb:UpdateItem and
// dynamodb:GetItem on the table.
package control
