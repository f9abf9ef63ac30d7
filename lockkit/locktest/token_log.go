package locktest

import (
	"crypto/sha256"
	"encoding/json"
	"time"
)

// tokenLife is how long a transaction's token stands for the transaction.
const tokenLife = 10 * time.Minute

// maxToken is the longest token in characters.
const maxToken = 36

// tokenLog remembers the tokens of transactions that were carried out. The SDK
// sends one with every TransactWriteItems, so that its own retries do no harm.
type tokenLog struct {
	done  map[string]tokenEntry
	order []tokenEntry // oldest first
}

type tokenEntry struct {
	token string
	sum   [sha256.Size]byte // of the request
	at    time.Time
}

// seen reports whether the transaction was carried out before. The same token
// with another request is an error.
func (l *tokenLog) seen(r *transactWriteRequest, now time.Time) (bool, error) {
	if r.ClientRequestToken == "" {
		return false, nil
	}
	if len(r.ClientRequestToken) > maxToken {
		return false, validation("1 validation error detected: Value '%s' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to %d", r.ClientRequestToken, maxToken)
	}
	l.expire(now)
	e, ok := l.done[r.ClientRequestToken]
	if ok && e.sum != fingerprint(r) {
		return false, newError(codeTokenMismatch, "The provided client token was already used with a different request")
	}
	return ok, nil
}

func (l *tokenLog) remember(r *transactWriteRequest, now time.Time) {
	if r.ClientRequestToken == "" {
		return
	}
	if l.done == nil {
		l.done = make(map[string]tokenEntry)
	}
	e := tokenEntry{token: r.ClientRequestToken, sum: fingerprint(r), at: now}
	l.done[e.token] = e
	l.order = append(l.order, e)
}

func (l *tokenLog) expire(now time.Time) {
	for len(l.order) > 0 && now.Sub(l.order[0].at) >= tokenLife {
		delete(l.done, l.order[0].token)
		l.order = l.order[1:]
	}
}

// fingerprint sums up what the transaction does. Encoding sorts the maps, which
// the SDK sends in random order.
func fingerprint(r *transactWriteRequest) [sha256.Size]byte {
	text, err := json.Marshal(r.TransactItems)
	if err != nil { // cannot happen: it came from JSON
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(text)
}
