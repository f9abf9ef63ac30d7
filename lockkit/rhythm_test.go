package lockkit

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// watched is one contender that watches a holder in a model of time: renewals
// land latency after they were sent, answers arrive as long after that.
type watched struct {
	rng     *rand.Rand
	lease   time.Duration
	latency func() time.Duration
	skew    time.Duration // the contender's wall clock is ahead by this
	hints   bool
}

var epoch = time.Unix(1_800_000_000, 0)

// landings returns when the holder's renewals are sent and land, the last of
// them the n-th.
func (w watched) landings(n int) (sent, landed []time.Duration) {
	for k := range n {
		at := time.Duration(k) * w.lease / 3
		sent = append(sent, at)
		landed = append(landed, at+w.latency()/2)
	}
	return sent, landed
}

// show is what a look at a moment finds.
func (w watched) show(sent, landed []time.Duration, at time.Duration) record {
	newest := 0
	for k := range landed {
		if landed[k] <= at {
			newest = k
		}
	}
	r := record{exists: true, owner: "o", version: time.Duration(newest + 1).String(), lease: w.lease}
	if w.hints {
		r.at = epoch.Add(sent[newest]).Round(0)
	}
	return r
}

// takeover runs a contender from a moment on, against a holder that dies after
// its n-th renewal, and returns when it may take over, counted from the send of
// that renewal, and the reads it took from there.
func (w watched) takeover(n int, from time.Duration) (time.Duration, int) {
	sent, landed := w.landings(n)
	r := newRhythm(0, w.rng.Float64)
	clock := func(d time.Duration) moment { return moment{epoch.Add(d), epoch.Add(d + w.skew)} }
	since, version, reads := time.Duration(0), "", 0
	last := sent[n-1]
	for at := from; ; {
		rec := w.show(sent, landed, at)
		now := at + w.latency()/2
		if rec.version != version {
			version, since = rec.version, now
		}
		if at > last {
			reads++
		}
		r.saw(rec, clock(now))
		next := r.next(clock(now)).Sub(epoch)
		if due := since + w.lease; next >= due-w.lease/6 {
			return due - last, reads
		}
		at = next + w.latency()/2
	}
}

// alive returns how long a contender waits for a live holder's sign of life, and
// how many reads that takes.
func (w watched) alive(from time.Duration) (time.Duration, int) {
	sent, landed := w.landings(60)
	r := newRhythm(0, w.rng.Float64)
	clock := func(d time.Duration) moment { return moment{epoch.Add(d), epoch.Add(d + w.skew)} }
	for at, reads := from, 0; ; reads++ {
		now := at + w.latency()/2
		if r.saw(w.show(sent, landed, at), clock(now)) {
			return now - from, reads
		}
		at = r.next(clock(now)).Sub(epoch) + w.latency()/2
	}
}

type figures struct{ median, max float64 }

func summary(x []float64) figures {
	slices.Sort(x)
	return figures{x[len(x)/2], x[len(x)-1]}
}

// TestLookingAtTheRightMoment holds the waits and reads of a contender to what
// the looks are for, in a model without requests: takeover little more than a
// lease after the last renewal, and a sign of life soon, at few reads.
func TestLookingAtTheRightMoment(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, c := range []struct {
		name                    string
		hints                   bool
		skew                    time.Duration
		takeover, alive         figures // multiples of the lease
		takeoverReads, lifeRead int
	}{
		{"hint", true, 0, figures{1.03, 1.08}, figures{0.20, 0.40}, 4, 1},
		{"hint, clock 15 ms ahead", true, 15 * time.Millisecond, figures{1.03, 1.08}, figures{0.20, 0.40}, 4, 2},
		{"hint, clock 15 ms behind", true, -15 * time.Millisecond, figures{1.035, 1.08}, figures{0.20, 0.40}, 4, 1},
		{"hint, clock 100 ms ahead", true, 100 * time.Millisecond, figures{1.08, 1.15}, figures{0.40, 0.70}, 5, 2},
		{"hint, clock 100 ms behind", true, -100 * time.Millisecond, figures{1.08, 1.15}, figures{0.40, 0.70}, 5, 2},
		{"no hint", false, 0, figures{1.08, 1.15}, figures{0.40, 0.70}, 5, 2},
	} {
		for _, lease := range []time.Duration{3 * time.Second, 10 * time.Second, 30 * time.Second} {
			t.Run(c.name+" "+lease.String(), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, uint64(lease)))
				w := watched{rng: rng, lease: lease, skew: c.skew, hints: c.hints, latency: func() time.Duration {
					return time.Duration(10+rng.IntN(21)) * time.Millisecond
				}}
				var takeover, alive []float64
				var reads, lifeReads int
				const runs = 400
				for i := range runs {
					// Spread evenly, or the median would move with the seed.
					from := time.Duration((float64(i) + rng.Float64()) / runs * float64(3*lease))
					d, n := w.takeover(30+rng.IntN(10), from)
					takeover, reads = append(takeover, float64(d)/float64(lease)), max(reads, n)
					d, n = w.alive(from)
					alive, lifeReads = append(alive, float64(d)/float64(lease)), max(lifeReads, n)
				}
				to, al := summary(takeover), summary(alive)
				t.Logf("takeover median %.3f max %.3f, at most %d reads; sign of life median %.3f max %.3f, at most %d reads", to.median, to.max, reads, al.median, al.max, lifeReads)
				if to.median > c.takeover.median || to.max > c.takeover.max || reads > c.takeoverReads {
					t.Errorf("takeover: want median ≤ %.3f, max ≤ %.3f, at most %d reads", c.takeover.median, c.takeover.max, c.takeoverReads)
				}
				if al.median > c.alive.median || al.max > c.alive.max || lifeReads > c.lifeRead {
					t.Errorf("sign of life: want median ≤ %.3f, max ≤ %.3f, at most %d reads", c.alive.median, c.alive.max, c.lifeRead)
				}
			})
		}
	}
}
