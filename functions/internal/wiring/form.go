package wiring

import (
	"slices"
	"strings"
)

// The forms of values. They are no regular expressions, because every cold start
// would wait for these to be compiled, and one that counts to 255 takes longer
// than everything else here together.

// isTable: a table's name, or arn:partition:dynamodb:region:account:table/name.
func isTable(value string) bool {
	name := value
	if strings.HasPrefix(value, "arn:") {
		parts := strings.Split(value, ":")
		if len(parts) != 6 || parts[2] != "dynamodb" || !made(parts[1], lower, only('-')) || !made(parts[3], lower, digit, only('-')) || !made(parts[4], digit) {
			return false
		}
		var is bool
		if name, is = strings.CutPrefix(parts[5], "table/"); !is {
			return false
		}
	}
	return 3 <= len(name) && len(name) <= 255 && made(name, lower, upper, digit, only('_'), only('.'), only('-'))
}

func isAttribute(value string) bool {
	return value != "" && len(value) <= 255 && !strings.ContainsAny(value, " \t\n\f\r")
}

// isRegion: letters, and then one or more parts of letters and digits.
func isRegion(value string) bool {
	parts := strings.Split(value, "-")
	for _, part := range parts[1:] {
		if !made(part, lower, digit) {
			return false
		}
	}
	return len(parts) > 1 && made(parts[0], lower)
}

func isLogFormat(value string) bool { return slices.Contains([]string{"JSON", "Text", "TEXT"}, value) }

func isLogLevel(value string) bool {
	return slices.Contains([]string{"DEBUG", "INFO", "WARN", "ERROR"}, value)
}

func isAnything(string) bool { return true }

// withoutUser hides what stands between the slashes of a URL and its last @.
func withoutUser(value string) string {
	start, end := strings.Index(value, "//"), strings.LastIndex(value, "@")
	if start < 0 || end < start+2 {
		return value
	}
	return value[:start] + "//***" + value[end:]
}

// made reports whether a value has at least one byte and each is of one of the
// kinds.
func made(value string, kinds ...func(byte) bool) bool {
	for i := range len(value) {
		if !slices.ContainsFunc(kinds, func(is func(byte) bool) bool { return is(value[i]) }) {
			return false
		}
	}
	return value != ""
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func digit(c byte) bool { return '0' <= c && c <= '9' }
func only(want byte) func(byte) bool {
	return func(c byte) bool { return c == want }
}
