package lambda

import "errors"

// Service errors, to be tested with [errors.Is]. Errors of functions are not
// among them: those are part of a [Result].
var (
	// ErrUnknownFunction is returned for a name that was not created.
	ErrUnknownFunction = errors.New("unknown function")
	// ErrUnknownEnvironment is returned for an environment that never was or is gone.
	ErrUnknownEnvironment = errors.New("unknown environment")
	// ErrThrottled is returned by Invoke when all of a function's environments are taken.
	ErrThrottled = errors.New("throttled")
	// ErrInvalid is returned for a function, a payload or a number that Lambda would refuse.
	ErrInvalid = errors.New("invalid")
	// ErrState is returned for a fault that does not fit the environment's state.
	ErrState = errors.New("wrong state")
	// ErrClosed is returned after Close, and by what Close interrupted.
	ErrClosed = errors.New("service is closed")
)
