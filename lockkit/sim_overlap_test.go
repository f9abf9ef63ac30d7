package lockkit_test

import (
	"net/http"
	"slices"
	"time"
)

// mostConflicts is how often in a row the endpoint answers a process with a
// conflict. Then the other side gets it: that many raw writes can cost a short
// lease, because all of its few renewals meet one of them, is documented, and not
// what is looked for.
func (p simPlan) mostConflicts() int {
	if p.Lease < 2*time.Second {
		return 1
	}
	return 2
}

// underway is a transaction that the endpoint has begun and not yet committed.
type underway struct {
	p      *simProcess
	r      *simRequest
	beaten *simRequest // the write that got its way instead of it
}

// admit reports whether a request is to be carried out now. A transaction takes
// the endpoint a while, and for that long its items have no room for another
// write: one of the two is refused, as the service may do with either. Callers
// hold mu, which is let go of while the transaction is under way.
func (w *simWorld) admit(p *simProcess, r *simRequest) (refusal simAnswer, ok bool) {
	if !r.writes() || w.plan.Busy == 0 {
		return simAnswer{}, true
	}
	in := func(t *underway) bool { return t.beaten == nil && t.r.meets(r) }
	if i := slices.IndexFunc(w.underway, in); i >= 0 {
		other := w.underway[i]
		w.overlaps++
		mine, theirs := p.conflicts[r.operation], other.p.conflicts[other.r.operation]
		most := w.plan.mostConflicts()
		switch {
		case r.ClientRequestToken != "" && r.ClientRequestToken == other.r.ClientRequestToken:
			return failure(http.StatusBadRequest, "TransactionInProgressException"), false
		case mine < most && (theirs >= most || w.overlaps%2 == 0):
			w.tell("process %d: %s meets a transaction of process %d", p.id, r.operation, other.p.id)
			p.conflicts[r.operation]++
			return r.conflict(other.r), false
		}
		for _, t := range w.underway {
			if in(t) {
				t.beaten = r
			}
		}
	}
	if len(r.TransactItems) > 0 {
		t := &underway{p: p, r: r}
		w.underway = append(w.underway, t)
		w.mu.Unlock()
		time.Sleep(w.plan.Busy)
		w.mu.Lock()
		w.underway = slices.DeleteFunc(w.underway, func(u *underway) bool { return u == t })
		if t.beaten != nil {
			w.tell("process %d: its transaction is met by %s", p.id, t.beaten.operation)
			p.conflicts[r.operation]++
			return r.conflict(t.beaten), false
		}
	}
	p.conflicts[r.operation] = 0
	return simAnswer{}, true
}

// keys are the partition keys of what the request writes or checks.
func (r *simRequest) keys() []string {
	keys := []string{r.Key["pk"].S}
	for _, i := range r.TransactItems {
		keys = append(keys, i.key())
	}
	return keys
}

func (r *simRequest) meets(other *simRequest) bool {
	return slices.ContainsFunc(r.keys(), func(k string) bool { return k != "" && slices.Contains(other.keys(), k) })
}

// conflict is the answer to a request that meets another one.
func (r *simRequest) conflict(other *simRequest) simAnswer {
	if len(r.TransactItems) == 0 {
		return failure(http.StatusBadRequest, "TransactionConflictException")
	}
	var where []int
	for i, item := range r.TransactItems {
		if slices.Contains(other.keys(), item.key()) {
			where = append(where, i)
		}
	}
	return cancelledBy(len(r.TransactItems), where...)
}
