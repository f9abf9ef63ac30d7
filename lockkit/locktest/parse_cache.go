package locktest

import "sync"

// maxParsed bounds the cache: a program has tens of expressions, a fuzz test
// has as many as it likes.
const maxParsed = 1000

// parseCache remembers parsed expressions, as programs send the same few texts
// again and again.
type parseCache struct {
	mu     sync.Mutex
	parsed map[parseKey]expr
}

type parseKey struct {
	parameter parameter
	source    string
}

func (c *parseCache) parse(p parameter, source string) (expr, error) {
	key := parseKey{parameter: p, source: source}
	c.mu.Lock()
	e, ok := c.parsed[key]
	c.mu.Unlock()
	if ok {
		return e, nil
	}
	e, err := parse(p, source)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parsed == nil || len(c.parsed) >= maxParsed {
		c.parsed = make(map[parseKey]expr)
	}
	c.parsed[key] = e
	return e, nil
}

func parse(p parameter, source string) (expr, error) {
	switch p {
	case updateParameter:
		return parseUpdate(source)
	case projectionParameter:
		return parseProjection(source)
	default:
		return parseCondition(source)
	}
}
