package main

import "slices"

// jobMutants are bugs of whole runs: which ticks run, what they complete, what a
// Commit promises and what a run tells. Their files are those of singleton, and it
// is singleton's simulation that must find them.
func jobMutants() []mutant {
	return slices.Concat(tickMutants(), commitMutants(), toldMutants(), policyMutants())
}

// policyMutants are bugs of what a run does that finds another one at work.
func policyMutants() []mutant {
	return []mutant{
		one("a queue that never takes over", "singleton/queue.go", "	alive := p.skipWhenAlive.looks(ctx, s)\n", "	p.skipWhenAlive.looks(ctx, s)\n	alive := true\n	p.alive = true\n"),
		one("a queued tick that nobody runs", "singleton/takeon.go", "	add.Condition = \"attribute_not_exists(#pending) OR #pending <= :done\"\n	add.Values[\":done\"] = wire.Number(e.settled().UnixMilli())\n", ""),
	}
}

// tickMutants are bugs of what may run, and of what it covers.
func tickMutants() []mutant {
	return []mutant{
		one("a tick that is done runs again", "singleton/ext.go", "	if e.once() {\n		newest, err", "	if false {\n		newest, err"),
		one("a forced run moves the last completed tick back", "singleton/ext.go", "err == nil && done.After(e.covers.tick)", "false && err == nil && done.After(e.covers.tick)"),
		one("an older tick is called a duplicate", "singleton/ext.go", "	if e.tick.Equal(e.done) {", "	if true {"),
		one("a paused job starts", "singleton/ext.go", "	refusePaused(&add, w.Sent)\n", ""),
		one("a run does not understand that the job is paused", "singleton/controls.go", "	if on {", "	if on && now.IsZero() {"),
		one("a stop hits whoever holds the lock", "singleton/controls.go", "err != nil || s.Token != w.Token || e.stopped", "err != nil || e.stopped"),
		{"an acquire leaves the stop of the run before", []edit{
			{"singleton/ext.go", `		Remove: []string{"#stop"}, // it was addressed to a holder who is gone
`, ""},
			{"singleton/ext.go", `, "#stop": lockkit.AttrStop},`, "},"},
		}},
		{"an acquire forgets the cursor", []edit{
			{"singleton/ext.go", `Remove: []string{"#stop"}, //`, `Remove: []string{"#stop", "#cursor"}, //`},
			{"singleton/ext.go", `, "#stop": lockkit.AttrStop},`, `, "#stop": lockkit.AttrStop, "#cursor": lockkit.AttrCursor},`},
		}},
		one("an interval begins after the last completed tick", "singleton/since.go", "	c.since = done\n", "	c.since = done.Add(time.Minute)\n"),
		one("an interval begins before the last completed tick", "singleton/since.go", "	c.since = done\n", "	c.since = done.Add(-time.Minute)\n"),
		one("a run does not get the cursor", "singleton/since.go", "		c.cursor = found\n		// A newer tick was begun", "		// A newer tick was begun"),
		one("a newer tick that was begun is left as it is", "singleton/since.go", "found.Tick.After(c.tick)", "false && found.Tick.After(c.tick)"),
		one("a run gives up on a dead holder too early", "singleton/contend.go", "time.AfterFunc(held+a.locks", "time.AfterFunc(held/2-a.spec.ContendMargin+a.locks"),
		one("a run gives up on a holder at the first look", "singleton/skip_when_alive.go", "	p.alive = p.alive || s.Alive\n", "	p.alive, s.Alive = true, true\n"),
	}
}

// commitMutants are bugs of the transactions of a run.
func commitMutants() []mutant {
	return []mutant{
		one("a transaction does not raise the step", "singleton/commit.go", "	e.step++ //", "	//"),
		one("each body of a transaction has a step of its own", "singleton/commit.go", "	tx.sent = true\n", "	if tx.sent {\n		e.step++\n		tx.step = e.step\n	}\n	tx.sent = true\n"),
		one("a body that was cancelled may be applied late", "singleton/commit.go", `"attribute_not_exists(#step) OR #step < :step"`, `"attribute_not_exists(#step) OR #step <= :step"`),
		one("a Commit does not complete its tick", "singleton/commit.go", `			add.Set = append(add.Set, "#tick = :tick")
`, ""),
		one("a Commit leaves the cursor", "singleton/commit.go", "		e.dropCursor(&add)\n", ""),
		one("a Commit whose answer was lost is not recognised", "singleton/did.go", "	case step >= d.open.step:", "	case false:"),
		one("a Commit without an answer counts as one that failed", "singleton/did.go", "	if sent && errors.Is(err, lockkit.ErrUnknownOutcome) {", "	if false {"),
		one("a Commit without an answer counts as applied", "singleton/did.go", "		d.openErr = err\n		return\n", "		d.open, d.committed = nil, tx.commit\n		return\n"),
		one("nil after a Commit that failed completes the tick", "singleton/did.go", "	case d.asked:\n		return Failed", "	case false:\n		return Failed"),
		one("nil after a checkpoint that was not applied completes the tick", "singleton/did.go", "	case d.missing != nil:", "	case false:"),
	}
}

// toldMutants are bugs of what a run reports and records.
func toldMutants() []mutant {
	return []mutant{
		one("completion is reported and not recorded", "singleton/ext.go", "	if e.marks() {\n		add.Set", "	if false {\n		add.Set"),
		{"nil after the end of the time completes the tick", []edit{
			{"singleton/work.go", "	case working.Err() != nil:\n		return OutOfTime", "	case false:\n		return OutOfTime"},
			{"singleton/work.go", "	case a.budget.over(time.Now()):\n", "	case false:\n"},
		}},
		one("nil after a stop completes the tick", "singleton/work.go", "	case errors.Is(context.Cause(working), ErrStopped):\n", "	case errors.Is(context.Cause(working), ErrStopped) && r.err == nil:\n		return Completed, nil\n	case errors.Is(context.Cause(working), ErrStopped):\n"),
		one("a release that finds the lock taken over is a success", "singleton/release.go", "	case outcome == Completed && gone:\n		return Lost,", "	case outcome == Completed && gone:\n		return Completed, false, nil\n	case false:\n		return Lost,"),
		one("a failed run is recorded as completed", "singleton/ext.go", "string(e.end.outcome), e.end.err\n", "string(Completed), e.end.err\n"),
		one("a holder that released is reported as dead", "singleton/contend.go", "	if !r.Ended.IsZero() {", "	if false {"),
		one("the record does not name its holder", "singleton/ext.go", "wire.Record{Owner: owner,", "wire.Record{Owner: e.request.id,"),
	}
}
