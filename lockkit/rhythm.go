package lockkit

import "time"

// maxPause is the longest a waiter goes without a look.
const maxPause = 10 * time.Second

// rhythm decides when a waiter looks at a held lock next. It must see the
// holder's last renewal before it can count a lease from it, so a look at a
// random moment gives time away; the right moment is just after each expected
// renewal. Holders renew every third of the lease, and the item says when the
// newest write was sent. That time comes from another machine's wall clock, so
// it only ever picks the moment of a look, never whether a lease is over; when
// looks at that moment miss, the moment is learned from the changes seen.
//
// One rhythm serves one Acquire and is not safe for concurrent use.
type rhythm struct {
	interval time.Duration // fixed interval, or 0
	random   func() float64
	spread   float64 // where in the range of offsets this waiter looks; drawn once

	version  string // the newest record version seen, "" before the first look
	lease    time.Duration
	hint     time.Time // when the holder sent it, by the holder's clock; zero: no hint
	planned  time.Time // when the coming look is due
	lastLook time.Time // when the last look was due to be sent

	// The newest change landed after low and not after high, on this process's
	// clock. Both are zero until a change was seen.
	low, high time.Time

	aim       aim       // what the coming look is for
	missed    bool      // the last look was aimed at a renewal and saw none
	distrust  bool      // a hinted look missed and the holder went on: its clock is not ours
	lastExtra time.Time // a look beyond three per lease is spent once per lease
}

// aim is the reason for a look.
type aim int

const (
	aimNone  aim = iota // only that it is time to look again
	aimHint             // just after a renewal that the holder's stamp foretells
	aimLearn            // just after, or in the middle of, where changes were seen
)

func newRhythm(interval time.Duration, random func() float64) *rhythm {
	return &rhythm{interval: interval, random: random, spread: random()}
}

// offset is how long after an expected renewal to look: late enough for it to
// have landed, and not the same for every waiter.
func (r *rhythm) offset() time.Duration {
	least, most := max(r.lease/200, 20*time.Millisecond), max(r.lease/40, 40*time.Millisecond)
	return least + time.Duration(r.spread*float64(most-least))
}

// saw notes what a look showed whose answer arrived at now, and reports whether
// the record version changed since the look before in this Acquire.
func (r *rhythm) saw(rec record, now moment) (changed bool) {
	first, age := r.version == "", now.wall.Sub(rec.at)
	changed = !first && rec.version != r.version
	switch {
	case first:
	case !changed:
		r.missed = r.aim != aimNone
	case rec.lease != r.lease:
		r.low, r.high, r.missed = time.Time{}, time.Time{}, false // another rhythm
	default:
		r.distrust = r.distrust || !r.hint.IsZero() && (r.missed || r.aim == aimHint && age >= r.lease/3)
		r.learn(now.mono)
		r.missed = false
	}
	if r.lastLook = r.planned; first {
		r.lastLook = now.mono
	}
	if !first && !changed {
		return false
	}
	r.version, r.lease, r.hint = rec.version, rec.lease, time.Time{}
	if !rec.at.IsZero() && age >= 0 && age <= rec.lease/2 {
		r.hint = rec.at
	}
	return changed
}

// learn narrows down when changes land: after the look before and by now, and
// whole thirds after the change before.
func (r *rhythm) learn(now time.Time) {
	low, high := r.lastLook, now
	if !r.high.IsZero() {
		third := r.lease / 3
		n := time.Duration(max(int64(now.Sub(r.high)/third), 1)) * third
		if l := r.low.Add(n); l.After(low) && l.Before(high) {
			low = l
		}
		if h := r.high.Add(n); h.Before(high) && h.After(low) {
			high = h
		}
	}
	r.low, r.high = low, high
}

// next returns when to look after a look that was answered at now. The due
// takeover is the caller's to watch: whatever next says, it is not later.
func (r *rhythm) next(now moment) time.Time {
	if r.interval > 0 {
		r.aim, r.planned = aimNone, now.mono.Add(time.Duration((0.5+0.5*r.random())*float64(r.interval)))
		return r.planned
	}
	third := r.lease / 3
	at, why := now.mono.Add(third), aimNone
	switch {
	case r.distrust && !r.high.IsZero() || r.hint.IsZero() && !r.high.IsZero():
		at, why = r.learned(now.mono), aimLearn
	case !r.hint.IsZero():
		at, why = r.hinted(now), aimHint
	}
	if latest := now.mono.Add(min(third, maxPause)); at.After(latest) {
		if at.Sub(latest) > r.offset() {
			why = aimNone
		}
		at = latest
	}
	r.aim, r.planned = why, at
	return at
}

// hinted is the next renewal that the holder's stamp foretells. After one look
// that missed there, a single closer one tells a dead holder from a clock that
// runs ahead.
func (r *rhythm) hinted(now moment) time.Time {
	if r.missed && r.extra(now.mono) {
		return now.mono.Add(max(r.lease/24, 40*time.Millisecond))
	}
	return after(now.mono, now.mono.Add(r.hint.Sub(now.wall)).Add(r.offset()), r.lease/3)
}

// learned is the next change expected from those seen. While the moment is known
// only roughly, the look goes into the middle of it, which halves it.
func (r *rhythm) learned(now time.Time) time.Time {
	third := r.lease / 3
	if width := r.high.Sub(r.low); !r.missed && width > max(r.lease/32, 2*r.offset()) && r.extra(now) {
		return after(now, r.low.Add(width/2), third)
	}
	return after(now, r.high.Add(r.offset()), third)
}

// extra reports whether one more look than three per lease may be spent, and
// spends it.
func (r *rhythm) extra(now time.Time) bool {
	if !r.lastExtra.IsZero() && now.Sub(r.lastExtra) < r.lease {
		return false
	}
	r.lastExtra = now
	return true
}

// after is the first moment later than now that lies a whole number of periods,
// at least one, after from.
func after(now, from time.Time, period time.Duration) time.Time {
	k := max(int64(now.Sub(from)/period)+1, 1)
	return from.Add(time.Duration(k) * period)
}
