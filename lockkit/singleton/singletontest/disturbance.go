package singletontest

// strike is what happens to one request and to the process that sent it.
type strike int

const (
	nothing       strike = iota
	diesBefore           // the process dies, the request never leaves it
	diesAfter            // the request is applied, the process is dead
	requestLost          // the connection breaks, nothing is applied
	answerLost           // the request is applied, the connection breaks
	freezesBefore        // the process stands still; thawed, it sends the request
	freezesAfter         // the request is applied; thawed, the process gets the answer
)

// freezes reports whether it goes on later.
func (s strike) freezes() bool { return s == freezesBefore || s == freezesAfter }

// disturbance is one way to disturb a run, and who comes after.
type disturbance struct {
	name   string
	strike strike
	next   bool // the next tick follows, not the same one again
}

// disturbances are all that CrashEverywhere does to each request.
func disturbances() []disturbance {
	return []disturbance{
		{"the process dies before it, the tick is delivered again", diesBefore, false},
		{"the process dies after it, the tick is delivered again", diesAfter, false},
		{"the process dies before it, the next tick follows", diesBefore, true},
		{"the process dies after it, the next tick follows", diesAfter, true},
		{"the connection breaks before it, the process lives", requestLost, false},
		{"its answer is lost, the process lives", answerLost, false},
		{"taken over before it by the same tick, then it is sent", freezesBefore, false},
		{"taken over after it by the same tick, then the run goes on", freezesAfter, false},
		{"taken over before it by the next tick, then it is sent", freezesBefore, true},
		{"taken over after it by the next tick, then the run goes on", freezesAfter, true},
	}
}

// trap strikes one of the requests that all processes send.
type trap struct {
	at     int // which one, from 1; 0: none
	strike strike
	struck bool
	about  Request
}

// arrives counts a request and says what happens to it.
func (w *World) arrives(r Request) strike {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, r)
	if w.trap.struck || w.trap.at != len(w.sent) {
		return nothing
	}
	w.trap.struck, w.trap.about = true, r
	return w.trap.strike
}

// disarm takes the trap away and returns the request that it struck, if it has.
func (w *World) disarm() (about Request, struck bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	about, struck = w.trap.about, w.trap.struck
	w.trap = trap{}
	return about, struck
}
