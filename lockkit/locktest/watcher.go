package locktest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// Watcher is a client for [lockkit.New] that tells when a contender is turned
// away. Give each contender whose refusals matter one of its own, over the
// client of any endpoint; it passes every call on unchanged. It has no goroutine
// and is safe for concurrent use.
type Watcher struct {
	client lockkit.Client

	mu      sync.Mutex
	waiting map[string][]chan struct{} // by lock name
	// sent are the owner ids of acquires that had no success yet: an item that
	// shows one of them is that acquire's own, whose answer was lost.
	sent map[string]struct{}
}

var _ lockkit.Client = (*Watcher)(nil)

// NewWatcher returns a Watcher over a client.
func NewWatcher(client lockkit.Client) *Watcher {
	return &Watcher{client: client, waiting: map[string][]chan struct{}{}, sent: map[string]struct{}{}}
}

// WaitForRefusal returns a channel that is closed when a try of this contender
// next finds the lock held by another: a TryAcquire that returns a HeldError, or
// a look of Acquire or RunAsLeader that waits on. Take it before the contender
// starts, or the first refusal may have passed. A lock that is never refused
// never closes it.
//
// It is closed when the answer has arrived, and the contender may not have acted
// on it yet; in a bubble, synctest.Wait lets it. Renewals and releases are no
// tries. A call of State sends the same request as a look and counts as one, so
// read states through a LockTable over the client beneath.
func (w *Watcher) WaitForRefusal(name string) (refused <-chan struct{}) {
	c := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[name] = append(w.waiting[name], c)
	return c
}

// UpdateItem passes a write on. It is a try if it is an acquire.
func (w *Watcher) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	owner, acquire := acquirer(in)
	if acquire {
		w.mu.Lock()
		w.sent[owner] = struct{}{}
		w.mu.Unlock()
	}
	out, err := w.client.UpdateItem(ctx, in, opts...)
	if !acquire {
		return out, err
	}
	if err == nil {
		w.won(owner)
	} else if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		w.found(in.Key, refused.Item)
	}
	return out, err
}

// GetItem passes a read on. It is a look if it is one of a lock.
func (w *Watcher) GetItem(ctx context.Context, in *dynamodb.GetItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := w.client.GetItem(ctx, in, opts...)
	if err == nil {
		w.found(in.Key, out.Item)
	}
	return out, err
}

// TransactWriteItems passes a transaction on.
func (w *Watcher) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return w.client.TransactWriteItems(ctx, in, opts...)
}

// won reports whether an owner id is that of an acquire that had no success yet,
// and notes that it has now.
func (w *Watcher) won(owner string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, own := w.sent[owner]
	delete(w.sent, owner)
	return own
}

// found judges the item that an acquire met at its key.
func (w *Watcher) found(key, item lockkit.Item) {
	owner := textOf(item[lockkit.AttrOwner])
	if owner == "" || w.won(owner) {
		return // free, or the acquire's own earlier send
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range key {
		name, ok := strings.CutPrefix(textOf(v), lockPrefix)
		if !ok {
			continue
		}
		for _, c := range w.waiting[name] {
			close(c)
		}
		delete(w.waiting, name)
	}
}

// acquirer returns the owner id that a write takes a lock for. Only an acquire
// says what kind of item it makes, and every acquire leaves a stamp {owner, ms}.
func acquirer(in *dynamodb.UpdateItemInput) (owner string, ok bool) {
	if !slices.Contains(slices.Collect(maps.Values(in.ExpressionAttributeNames)), lockkit.AttrType) {
		return "", false
	}
	for _, v := range in.ExpressionAttributeValues {
		m, isMap := v.(*types.AttributeValueMemberM)
		if !isMap || m.Value["ms"] == nil {
			continue
		}
		if owner = textOf(m.Value["owner"]); owner != "" {
			return owner, true
		}
	}
	return "", false
}

// textOf returns a string's text, "" for anything else.
func textOf(v types.AttributeValue) string {
	s, ok := v.(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	return s.Value
}
