package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Validate returns every fault of the spec at once, joined, each with the
// number that is wrong and what to change; nil when there is none.
func (s Spec) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("job %s: "+format, append([]any{label(s.Name)}, args...)...))
	}
	s.checkName(fault)
	s.checkSchedule(fault)
	if s.checkDurations(fault) {
		s.checkBudget(fault)
	}
	if m := s.WithDefaults().MemoryMB; m < MinMemoryMB || m > MaxMemoryMB {
		fault("MemoryMB is %d: Lambda takes %d to %d", m, MinMemoryMB, MaxMemoryMB)
	}
	if s.Retries < 0 || s.Retries > MaxRetries {
		fault("Retries is %d: Lambda takes 0 to %d for an asynchronous invoke", s.Retries, MaxRetries)
	}
	if c := s.MaxCursor; c < 0 || c > MaxCursorLimit {
		fault("MaxCursor is %d: choose 0 for the default (%d bytes), or 1 to %d", c, DefaultMaxCursor, MaxCursorLimit)
	}
	if p := s.WithDefaults().Policy; !slices.Contains(policies, p) {
		fault("Policy is %s: use one of %q, or leave it empty", label(string(p)), policies)
	}
	return errors.Join(faults...)
}

var policies = []Policy{SkipWhenAlive, SkipAtOnce, Wait, Queue, Supersede}

type report func(format string, args ...any)

func (s Spec) checkName(fault report) {
	switch {
	case s.Name == "":
		fault("Name is empty: give the job the name of its lock")
	case len(s.Name) > MaxName:
		fault("Name has %d bytes: DynamoDB's key has room for %d", len(s.Name), MaxName)
	case !utf8.ValidString(s.Name):
		fault("Name is not valid UTF-8, which DynamoDB's key must be")
	case strings.ContainsFunc(s.Name, unicode.IsControl):
		fault("Name has a control character: it would break every log line and terminal that shows it")
	}
}

// checkDurations checks each duration by itself and reports whether their sums
// make sense.
func (s Spec) checkDurations(fault report) bool {
	ok := true
	bad := func(format string, args ...any) { ok = false; fault(format, args...) }
	switch {
	case s.Lease == 0:
		bad("Lease is not set: choose %s to %s; a job of minutes does well with 30s", MinLease, MaxLease)
	case s.Lease < MinLease || s.Lease > MaxLease:
		bad("Lease is %s: choose %s to %s", s.Lease, MinLease, MaxLease)
	case s.Lease%time.Millisecond != 0:
		bad("Lease is %s: the lock's item holds whole milliseconds, use %s", s.Lease, s.Lease.Round(time.Millisecond))
	}
	if s.ContendMargin < 0 || s.ContendMargin > MaxLease {
		bad("ContendMargin is %s: choose 0 for the default (a third of the lease, at least %s), or up to %s", s.ContendMargin, MinMargin, MaxLease)
	}
	if s.Reserve != 0 && (s.Reserve < MinReserve || s.Reserve > MaxTimeout) {
		bad("Reserve is %s: giving the lock back is a request to DynamoDB; choose 0 for the default (%s), or %s to %s", s.Reserve, DefaultReserve, MinReserve, MaxTimeout)
	}
	if s.WorkTime != 0 && (s.WorkTime < MinWork || s.WorkTime > MaxTimeout) {
		bad("WorkTime is %s: choose 0 for the default (%s), or %s to %s", s.WorkTime, MinWork, MinWork, MaxTimeout)
	}
	switch {
	case s.Timeout == 0:
	case s.Timeout < MinTimeout || s.Timeout > MaxTimeout:
		bad("Timeout is %s: Lambda takes %s to %s", s.Timeout, MinTimeout, MaxTimeout)
	case s.Timeout%time.Second != 0:
		bad("Timeout is %s: Lambda takes whole seconds", s.Timeout)
	}
	if s.MaxAge != 0 && (s.MaxAge < MinAge || s.MaxAge > MaxAge) {
		fault("MaxAge is %s: Lambda keeps an event for %s to %s; choose 0 for no limit of the job's own", s.MaxAge, MinAge, MaxAge)
	}
	if s.ExpectedInterval != 0 && s.ExpectedInterval < MinInterval {
		fault("ExpectedInterval is %s: no EventBridge schedule is due more often than every %s", s.ExpectedInterval, MinInterval)
	}
	switch {
	case s.CatchUp == 0:
	case s.CatchUp < MinInterval:
		fault("CatchUp is %s: an interval is %s at least; choose 0 for three times ExpectedInterval", s.CatchUp, MinInterval)
	case s.CatchUp < s.ExpectedInterval:
		fault("CatchUp is %s, shorter than the ExpectedInterval of %s: each run would leave a gap; choose 0 for three times that", s.CatchUp, s.ExpectedInterval)
	}
	return ok
}

// checkBudget refuses a timeout that contending for the lock can use up: such a
// job would take a dead holder's lock over and then have no time to work, at
// each of its ticks.
func (s Spec) checkBudget(fault report) {
	d := s.WithDefaults()
	need := s.Overhead() + d.WorkTime
	if s.Timeout == 0 || need <= s.Timeout {
		return
	}
	parts := fmt.Sprintf("Lease %s + ContendMargin %s + Reserve %s", d.Lease, d.ContendMargin, d.Reserve)
	enough := (need + time.Second - 1).Truncate(time.Second)
	if enough > MaxTimeout {
		fault("waiting out a dead holder can take %s, which leaves less than %s of the Timeout of %s for the work, and no Lambda may run longer than %s: shorten the lease", parts, d.WorkTime, s.Timeout, MaxTimeout)
		return
	}
	fault("waiting out a dead holder can take %s = %s, which leaves less than %s of the Timeout of %s for the work: raise Timeout to %s or more, or shorten the lease", parts, s.Overhead(), d.WorkTime, s.Timeout, enough)
}

// label shows a text of the spec in an error, whatever is in it.
func label(s string) string {
	const most = 80
	if len(s) > most {
		end := most
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		return fmt.Sprintf("%q…", s[:end])
	}
	return fmt.Sprintf("%q", s)
}
