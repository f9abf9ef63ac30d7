package fence_test

import (
	"crypto/md5"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit/fence"
)

// object is one key of an object store whose ETag is a digest of the content
// alone, as that of S3 can be: metadata does not change it.
type object struct {
	mu      sync.Mutex
	content string // "" before the first write
	token   int64  // metadata
	landed  []int64
}

func (o *object) read() (etag string, token int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.etag(), o.token
}

func (o *object) etag() string {
	if o.content == "" {
		return ""
	}
	return fmt.Sprintf("%x", md5.Sum([]byte(o.content)))
}

// put writes if the ETag is still this one; "" stands for If-None-Match: *.
func (o *object) put(ifMatch, content string, token int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.etag() != ifMatch {
		return false
	}
	o.content, o.token = content, token
	o.landed = append(o.landed, token)
	return true
}

// putFenced is the recipe of docs/fencing.md: compare the token that was read,
// and write on the condition that it is what was read.
func putFenced(o *object, content func(token int64) string, token int64, pause time.Duration) error {
	for {
		etag, highest := o.read()
		if highest > token {
			return &fence.StaleError{Resource: "object", Token: token, Highest: highest}
		}
		time.Sleep(pause)
		if o.put(etag, content(token), token) {
			return nil
		}
	}
}

// playObject lets writers of different tokens loose on one object.
func playObject(t *testing.T, plan []request, content func(int64) string) []string {
	t.Helper()
	l := &ledger{}
	var sent []int64
	var o object
	synctest.Test(t, func(*testing.T) {
		var all sync.WaitGroup
		for _, p := range plan {
			sent = append(sent, p.token)
			all.Go(func() {
				time.Sleep(p.at)
				if err := putFenced(&o, content, p.token, p.duration); err != nil {
					l.refuse(p.token)
				}
			})
		}
		all.Wait()
	})
	l.landed = o.landed
	return l.check(sent, o.token)
}

// The recipe holds if the content names the token.
func TestRecipeForObjects(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plan := requests().Draw(rt, "plan")
		for _, fault := range playObject(t, plan, func(token int64) string { return fmt.Sprintf("token %d: the report", token) }) {
			rt.Error(fault)
		}
	})
}

// With the token in the metadata alone, a successor that writes the same content
// leaves the ETag as it was, and the stale write lands behind it.
func TestRecipeForObjectsNeedsTheTokenInTheContent(t *testing.T) {
	const ms = time.Millisecond
	plan := []request{{token: 1}, {token: 2, at: 1 * ms, duration: 10 * ms}, {token: 3, at: 2 * ms, duration: ms}}
	same := func(int64) string { return "the report" }
	if len(playObject(t, plan, same)) == 0 {
		t.Error("the stale write did not land: the docs warn of what cannot happen")
	}
	named := func(token int64) string { return fmt.Sprintf("token %d: the report", token) }
	for _, fault := range playObject(t, plan, named) {
		t.Error(fault)
	}
}
