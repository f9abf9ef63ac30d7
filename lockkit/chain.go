package lockkit

// try is one record version of a lease and when the write that carries it was
// first sent.
type try struct {
	version string
	sent    moment
}

// chain is the record versions a lease's item may show: the last one known to
// be on the item, then every version tried since, oldest first. A write's
// condition names them all, so that a try whose answer was lost does not cost
// the lease, and so that a try which arrives late finds a newer version in its
// way and cannot bring an old one back: to a contender that saw the old version
// before, the live holder would look dead.
type chain struct{ tries []try }

// Limits of the chain: DynamoDB takes 100 operands of IN. Renewals that a caller
// asks for stop earlier, so that they cannot use up the heartbeat's.
const (
	maxChain     = 95
	maxCallChain = 64
)

func (c *chain) full(limit int) bool { return len(c.tries) >= limit }

// add notes a version that is about to be sent.
func (c *chain) add(version string, sent moment) {
	c.tries = append(c.tries, try{version, sent})
}

// sent returns when a version of the chain was first sent.
func (c *chain) sent(version string) (moment, bool) {
	for _, t := range c.tries {
		if t.version == version {
			return t.sent, true
		}
	}
	return moment{}, false
}

// confirm makes version the last one known to be on the item. Those tried
// before it can no longer land; those tried after it still may.
func (c *chain) confirm(version string) {
	for i, t := range c.tries {
		if t.version == version {
			c.tries = append([]try(nil), c.tries[i:]...)
			return
		}
	}
}
