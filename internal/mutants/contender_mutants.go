package main

// contenderMutants are bugs of whoever wants the lock: what it takes for a dead
// holder, and the write that takes the lock.
func contenderMutants() []mutant {
	return []mutant{
		{"a look counts from before the read", []edit{
			{"contend.go", "	over     observation   // the holder", "	asked    time.Time\n	over     observation   // the holder"},
			{"contend.go", "	item, err := c.read(ctx)\n", "	c.asked = c.t.clock.now().mono\n	item, err := c.read(ctx)\n"},
			{"contend.go", "	now := c.t.clock.now().mono\n", "	now := c.t.clock.now().mono\n	if !c.asked.IsZero() {\n		now, c.asked = c.asked, time.Time{}\n	}\n"},
		}},
		{"a takeover after half a lease", []edit{
			{"contend.go", "due := o.since.Add(o.lease).Add(", "due := o.since.Add(o.lease / 2).Add("},
			{"take.go", "from.since.Add(from.lease).Add(", "from.since.Add(from.lease / 2).Add("},
		}},
		{"a takeover after the contender's own lease", []edit{
			{"contend.go", "due := o.since.Add(o.lease).Add(", "due := o.since.Add(c.lease).Add("},
			{"take.go", "from.since.Add(from.lease).Add(", "from.since.Add(c.lease).Add("},
		}},
		one("a takeover does not name the version seen", "take.go", "#lko = :lkso AND #lkv = :lksv)\"", "#lko = :lkso AND (#lkv = :lksv OR attribute_exists(#lkv)))\""),
		one("a takeover does not name the owner seen", "take.go", "#lko = :lkso AND #lkv = :lksv)\"", "(#lko = :lkso OR attribute_exists(#lko)) AND (#lkv = :lksv OR attribute_exists(#lkv)))\""),
		one("a takeover does not raise the token", "take.go", `	w.assign("#lkf", AttrFence, "if_not_exists(#lkf, :lkb) + :lk1")
`, `	if s.over == overNobody {
		w.assign("#lkf", AttrFence, "if_not_exists(#lkf, :lkb) + :lk1")
	} else {
		w.assign("#lkf", AttrFence, "if_not_exists(#lkf, :lkb) + :lk1 - :lk1")
	}
`),
		one("tokens of a new item start at 1", "take.go", "{ return sent.wall.UnixMilli() }", "{ _ = sent; return 0 }"),
		one("an acquire without an answer is taken for held", "contend.go", "	item, brought, ok := refused(err)\n", `	if transient(err) {
		return c.won(ctx, c.last.token+1, version, sent, nil), record{}, nil
	}
	item, brought, ok := refused(err)
`),
		one("a lost answer is not recognised", "contend.go", "	if rec.held() && rec.owner == c.owner {", "	if false {"),
		one("memory begins anew at every look", "memory.go", "ok && o.owner == r.owner && o.version == r.version", "false && ok && o.owner == r.owner"),
		one("memory does not see a new version", "memory.go", "o.owner == r.owner && o.version == r.version", "o.owner == r.owner"),
		one("a first look takes the holder for alive", "rhythm.go", "changed = !first && rec.version", "changed = rec.version"),
		one("an acquire does not ride out a conflict", "request.go", "errors.Is(err, errTimeout) || conflict(err)", "errors.Is(err, errTimeout)"),
		one("giving up an acquire frees any holder's lock", "abandon.go", `"#lko = :lko"`, `"#lko = :lko OR attribute_exists(#lko)"`),
		one("an acquire overwrites what others put on the item", "take.go", "	if !s.extended {\n", "	w.drop(\"#note\", \"note\")\n	if !s.extended {\n"),
		one("a wall clock ahead takes over at once", "contend.go", "o.until.Add(c.t.cfg.skew).Sub(now.wall)", "o.until.Add(-c.t.cfg.skew).Sub(now.wall)"),
	}
}
