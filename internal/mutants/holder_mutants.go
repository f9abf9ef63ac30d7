package main

// holderMutants are bugs of whoever has the lock: when it believes to have it,
// how it keeps it and how it gives it back.
func holderMutants() []mutant {
	return []mutant{
		one("a renewed lease counts from the answer", "renew.go", "		l.sent = sent\n", "		l.sent = now\n"),
		one("an acquired lease counts from the answer", "contend.go",
			"return c.won(ctx, token, version, sent, old), record{}, nil",
			"return c.won(ctx, token, version, c.t.clock.now(), old), record{}, nil"),
		one("a failed renewal moves the loss signal", "renew.go", "	l.failures++\n", "	l.failures++\n	l.alarm.Reset(l.duration)\n"),
		one("a failed renewal prolongs the lease", "renew.go", "	l.failures++\n", "	l.failures++\n	l.sent = now\n"),
		one("an answer after the end revives the lease", "renew.go", `	if ended := l.check(now); ended != nil {
		return ended
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return l.ended
	}
`, `	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		l.ended, l.done = nil, make(chan struct{})
	}
`),
		one("the wall clock is not looked at", "lease.go", "max(monotonic, wall)", "monotonic"),
		one("the monotonic clock is not looked at", "lease.go", "max(monotonic, wall)", "wall"),
		one("there is no safety margin", "lease.go", "return time.Duration(l.t.cfg.margin * float64(l.duration))", "return 0"),
		one("the heartbeat waits for the lease's end", "renew.go", "max(l.duration/3-now.mono", "max(l.duration-l.margin()-now.mono"),
		{"a renewal asks for the owner only", []edit{
			{"renew.go", "	versions := l.mineValues(values)\n", `	versions := l.mineValues(values)
	delete(values, ":lkf")
	for i := range versions {
		delete(values, versionPlaceholder(i))
	}
`},
			{"renew.go", "	w.mine(s.versions)\n", "	w.name(\"#lko\", AttrOwner)\n	w.condition.WriteString(\"#lko = :lko\")\n"},
		}},
		one("a renewal makes a deleted item anew", "renew.go", "	w.mine(s.versions)\n",
			"	w.mine(s.versions)\n	w.condition.WriteString(\" OR attribute_not_exists(#lkf)\")\n"),
		one("a confirmed version forgets those tried after it", "chain.go", "c.tries[i:]...)", "c.tries[i:i+1]...)"),
		{"a release asks for any owner", []edit{
			{"release.go", "	versions := l.mineValues(values)\n", `	versions := l.mineValues(values)
	delete(values, ":lko")
	delete(values, ":lkf")
	for i := range versions {
		delete(values, versionPlaceholder(i))
	}
`},
			{"release.go", "	w.mine(s.versions)\n", "	w.condition.WriteString(\"attribute_exists(#lko)\")\n"},
		}},
		one("a refused release is a success", "release.go", `	if _, ended := l.mine(item); ended != nil {
		return definite, ended
	}
`, `	if _, ended := l.mine(item); ended != nil {
		return definite, nil
	}
`),
		one("the end of a lease leaves its contexts alone", "lease.go", "		w.cancel(ended)\n", "		_ = w\n"),
		one("the end of a lease leaves its timer", "lease.go", "	l.alarm.Stop()\n", ""),
		one("the held check accepts a later holder", "table.go", `"#lko = :lko AND #lkf = :lkf"`, `"(#lko = :lko OR attribute_exists(#lko)) AND #lkf >= :lkf"`),
		one("a transaction without an answer is composed anew", "deliver.go", "		(*b).unanswered = true\n", "		*b = nil\n"),
		one("a conflict makes a transaction without an answer anew", "transact.go", "	if !b.unanswered {\n		*under = nil\n	}\n", "	*under = nil\n"),
		one("a renewal takes a conflict for a loss", "renew.go", "	if !ok {\n		return err\n	}\n	if !brought {\n", `	if conflict(err) {
		return l.end(ReasonTakenOver, "a conflict", err)
	}
	if !ok {
		return err
	}
	if !brought {
`),
		one("a renewal that met a conflict is not tried again", "renew.go", "	l.arm(pause)\n", "	if !conflict(err) {\n		l.arm(pause)\n	}\n"),
		one("a transaction that met a conflict is not tried again", "deliver.go", "CancelledByConflict, CancelledByThrottling:", "CancelledByThrottling:"),
		{"writes of a lease overlap", []edit{
			{"lease.go", "	case <-ctx.Done():\n		return ctxError(ctx)\n	}\n", "	default:\n		return nil\n	}\n"},
			{"deliver.go", "l.leave(); <-turn }", "l.leave() }"},
			{"lease.go", "func (l *Lease) leave() { <-l.lane }", `func (l *Lease) leave() {
	select {
	case <-l.lane:
	default:
	}
}`},
		}},
		one("a write takes a new request token for every try", "deliver.go", "		(*b).unanswered = true\n", "		(*b).unanswered, (*b).in.ClientRequestToken = true, nil\n"),
		one("a write without an answer counts as failed", "deliver.go", "	if b != nil && b.unanswered {\n", "	if false {\n"),
		one("a write is not fenced", "write.go", "	// The item in the way says", "	*check.ConditionCheck.ConditionExpression += \" OR attribute_exists(#lkf)\"\n	// The item in the way says"),
		one("a process that is gone soon holds on", "lease.go", "	if !l.until.IsZero() {\n", "	if false {\n"),
	}
}
