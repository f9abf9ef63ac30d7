package lockkit

import "time"

// Reading is what a lock's item says, as an Acquire reads it.
type Reading struct {
	Owner  string        // the holder's owner id; "" while the lock is free
	Holder string        // its label, "" without one
	Token  int64         // of the newest acquire
	Lease  time.Duration // the holder's
	Sent   time.Time     // when the holder sent its newest write, by its clock; zero: it does not say
}

// Read decodes the item at the key of a lock, for tools that look at one: it is
// the decoder of Acquire, so what it refuses with a [NotALockError] keeps every
// contender out. No item is a lock that is free. It sends nothing.
func (t *LockTable) Read(name string, item Item) (Reading, error) {
	r, err := decode(item)
	if err != nil {
		return Reading{}, &NotALockError{Lock: name, Table: t.Table(), Why: err.Error()}
	}
	return Reading{Owner: r.owner, Holder: r.holder, Token: r.token, Lease: r.lease, Sent: r.at}, nil
}
