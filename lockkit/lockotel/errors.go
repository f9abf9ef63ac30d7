package lockotel

import (
	"context"
	"errors"
	"fmt"

	"github.com/solotick/solotick/lockkit"
)

// errorType puts an error into one of few words, never its text: that may name
// the holder.
func errorType(err error) string {
	if ended, ok := errors.AsType[*lockkit.EndedError](err); ok {
		return string(ended.Reason)
	}
	switch {
	case errors.Is(err, lockkit.ErrNotALock):
		return "not_a_lock"
	case errors.Is(err, lockkit.ErrHeld):
		return "held"
	}
	// The SDK's API errors, by shape, so that this package needs no part of it.
	if api, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err); ok {
		return api.ErrorCode()
	}
	if late, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && late.Timeout() {
		return "timeout"
	}
	if canceled, ok := errors.AsType[interface {
		error
		CanceledError() bool
	}](err); errors.Is(err, context.Canceled) || ok && canceled.CanceledError() {
		return "canceled"
	}
	return innermost(err)
}

// innermost names the type of the innermost error that is more than a text.
func innermost(err error) string {
	kind := "_OTHER"
	for err != nil {
		switch name := fmt.Sprintf("%T", err); name {
		case "*errors.errorString", "*errors.joinError", "*fmt.wrapError", "*fmt.wrapErrors":
		default:
			kind = name
		}
		switch wrapper := err.(type) { //nolint:errorlint // this walks the chain itself
		case interface{ Unwrap() []error }:
			if err = nil; len(wrapper.Unwrap()) > 0 {
				err = wrapper.Unwrap()[0]
			}
		default:
			err = errors.Unwrap(err)
		}
	}
	return kind
}
