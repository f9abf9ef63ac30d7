package singletontest

import (
	"errors"
	"time"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

// Enumerate is CrashEverywhere for a job that is meant to go wrong.
var Enumerate = enumerate

// Judge returns what is wrong in what a delivery said.
func Judge(w *World, spec job.Spec, tick time.Time, e Ended) error {
	s := story{crash: &crash{spec: spec}, w: w}
	s.ended(invocation{process: w.Process(), tick: At(tick)}, e)
	return errors.Join(s.faults...)
}
