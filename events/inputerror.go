package events

import (
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"
)

// ErrInput is what every [InputError] matches with errors.Is.
var ErrInput = errors.New("events: not a tick")

// InputError says that an input is not a tick. It matches [ErrInput]. Text from
// the input is quoted and cut in it, so that it is safe to print.
type InputError struct {
	Got  string // what came, with the value
	Want string // what was expected
	Fix  string // what to do about it
}

// Error says what came, what was expected and what to do.
func (e *InputError) Error() string {
	return "events: " + e.Got + "; expected " + e.Want + "; to fix it: " + e.Fix
}

// Is matches [ErrInput].
func (e *InputError) Is(target error) bool { return target == ErrInput }

// maxShown bounds the bytes of the input that one error repeats.
const maxShown = 80

// quote shows text from the input: cut on a rune border, quoted, without
// control characters.
func quote(s string) string {
	if len(s) <= maxShown {
		return strconv.Quote(s)
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strconv.Quote(s[:end]) + "…"
}

// show names a JSON value without white space around it: its type, and the value
// as far as it fits.
func show(raw json.RawMessage) string {
	text := string(raw)
	if text == "" {
		return "nothing"
	}
	switch text[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return "the string " + quote(s)
		}
		return "the string " + quote(text)
	case '{':
		return "the object " + quote(text)
	case '[':
		return "the array " + quote(text)
	case 't', 'f', 'n':
		return text
	default:
		return "the number " + quote(text)
	}
}
