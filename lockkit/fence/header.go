package fence

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// Header carries the writer's token in a request, and in the answer to a stale
// one the highest token seen. Its value is a decimal whole number from 1 to
// 9223372036854775807, digits only.
const Header = "Fencing-Token"

// SetToken puts the token on a request, in place of any that it has. A token
// below 1 belongs to no lease and is refused by the server.
func SetToken(r *http.Request, token int64) {
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set(Header, strconv.FormatInt(token, 10))
}

// CheckResponse returns a [StaleError] for an answer that refuses a stale token,
// and nil for every other: the caller judges those by their status. resource is
// what the error calls the thing that was to be written. It does not read or
// close the body.
//
// A refusal is status 412 with the highest token in [Header]. A 412 without it
// counts too when the request named no other precondition (If-Match and its
// kind), because then nothing else can have failed.
func CheckResponse(resp *http.Response, resource string) error {
	if resp.StatusCode != http.StatusPreconditionFailed {
		return nil
	}
	highest, err := parseToken(resp.Header.Values(Header))
	if err != nil && conditional(resp.Request) {
		return nil // the caller's own precondition
	}
	stale := &StaleError{Resource: resource, Highest: highest}
	if resp.Request != nil {
		stale.Token, _ = parseToken(resp.Request.Header.Values(Header))
	}
	return stale
}

// conditional reports whether a request has a precondition besides the token.
func conditional(r *http.Request) bool {
	if r == nil {
		return true // not known; claim nothing
	}
	for _, name := range []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "If"} {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	return false
}

// parseToken reads the values of a [Header]. It takes digits only: a sign, a
// fraction or a second value is somebody's mistake, and guessing which token was
// meant could let a stale write through.
func parseToken(values []string) (int64, error) {
	switch len(values) {
	case 0:
		return 0, fmt.Errorf("header %s is missing: %s", Header, expected)
	case 1:
	default:
		return 0, fmt.Errorf("header %s is there %d times: %s", Header, len(values), expected)
	}
	v := values[0]
	if v == "" || strings.Trim(v, "0123456789") != "" {
		return 0, fmt.Errorf("header %s is %s: %s", Header, quoted(v), expected)
	}
	token, err := strconv.ParseInt(v, 10, 64)
	if err != nil || token < 1 {
		return 0, fmt.Errorf("header %s is %s: %s", Header, quoted(v), expected)
	}
	return token, nil
}

var expected = fmt.Sprintf("expected one value, the fencing token of the writer's lease, a decimal whole number from 1 to %d", int64(math.MaxInt64))

// quoted cuts what a client sent, so that an answer stays short.
func quoted(v string) string {
	const most = 40
	if len(v) > most {
		return strconv.Quote(v[:most]) + "..."
	}
	return strconv.Quote(v)
}
