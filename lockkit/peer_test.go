package lockkit_test

import (
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// peer is a client of another language: it knows the common attributes of a lock
// item and leaves alone what it does not know.
type peer struct {
	w              *world
	owner, version string
}

// update sends one UpdateItem on the lock, with the names and values that the
// expressions use.
func (p *peer) update(update, condition string, values map[string]types.AttributeValue) (map[string]types.AttributeValue, error) {
	names := map[string]string{"#t": "_type", "#o": "owner", "#r": "rvn", "#f": "fence", "#l": "leaseMs", "#h": "holder"}
	for alias := range names {
		if !strings.Contains(update+condition, alias) {
			delete(names, alias)
		}
	}
	out, err := p.w.client.UpdateItem(p.w.t.Context(), &dynamodb.UpdateItemInput{
		TableName: aws.String(table), Key: key(), UpdateExpression: aws.String(update), ConditionExpression: aws.String(condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values, ReturnValues: types.ReturnValueAllNew,
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

// acquire takes a free lock, or one whose holder showed the version given for a
// whole lease.
func (p *peer) acquire(seenOwner, seenVersion string) (token int64, err error) {
	p.owner, p.version = rand.Text(), rand.Text()
	values := map[string]types.AttributeValue{":lock": s("LOCK"), ":o": s(p.owner), ":r": s(p.version), ":l": n("30000"), ":one": n("1")}
	condition := "attribute_not_exists(#o)"
	if seenOwner != "" {
		condition = "#o = :so AND #r = :sr"
		values[":so"], values[":sr"] = s(seenOwner), s(seenVersion)
	}
	item, err := p.update("SET #t = :lock, #o = :o, #r = :r, #l = :l REMOVE #h ADD #f :one", condition, values)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(item["fence"].(*types.AttributeValueMemberN).Value, 10, 64)
}

func (p *peer) renew() error {
	p.version = rand.Text()
	_, err := p.update("SET #r = :r", "#o = :o", map[string]types.AttributeValue{":r": s(p.version), ":o": s(p.owner)})
	return err
}

func (p *peer) release() error {
	_, err := p.update("REMOVE #o, #l, #h", "#o = :o", map[string]types.AttributeValue{":o": s(p.owner)})
	return err
}

// A process of another language and one of ours contend for one lock as equals.
func TestPeerOfAnotherLanguage(t *testing.T) {
	inWorld(t, func(w *world) {
		t := w.t
		p := &peer{w: w}
		ours := w.acquire(w.process(lockkit.WithHolderLabel("pod-1")))
		if _, err := p.acquire("", ""); err == nil {
			t.Fatal("the peer took a held lock")
		}
		w.release(ours)

		// The peer holds and lives: our stamp of before is no hint, and not in the way.
		last := ours.Token()
		token, err := p.acquire("", "")
		if err != nil || token != last+1 {
			t.Fatalf("the peer's token is %d, %v; ours was %d", token, err, last)
		}
		w.plant(with(w.item(), "at", &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"owner": s(ours.Owner()), "ms": n(strconv.FormatInt(time.Now().UnixMilli(), 10))}}))
		stop := p.beat()
		_, err = w.process().Acquire(t.Context(), name, lease, lockkit.GiveUpWhenAlive())
		if held, ok := errors.AsType[*lockkit.HeldError](err); !ok || !held.Alive || held.Holder != "" || held.Token != token {
			t.Errorf("a live peer: %v", err)
		}
		stop()

		// The peer dies, and we take over.
		ours = w.acquire(w.process())
		if former, ok := ours.Takeover(); !ok || former.Owner != p.owner || ours.Token() != token+1 {
			t.Errorf("token %d, taken over from %+v", ours.Token(), former)
		}
		if err := p.renew(); err == nil {
			t.Error("the dead peer renewed")
		}

		// We die, and the peer takes over, leaving our attributes where they are.
		w.plant(with(w.item(), lockkit.AttrTick, n("5")))
		w.crash(ours)
		seen := w.item()
		time.Sleep(lease)
		token, err = p.acquire(seen["owner"].(*types.AttributeValueMemberS).Value, seen["rvn"].(*types.AttributeValueMemberS).Value)
		if err != nil || token != ours.Token()+1 {
			t.Fatalf("the peer's takeover: token %d, %v", token, err)
		}
		if got := attributes(w.item()); got != "_type at fence leaseMs owner pk rvn sk tick" {
			t.Errorf("the item has %s", got)
		}
		if err := w.write(ours, "stale"); err == nil {
			t.Error("our stale write was let through")
		}
		if err := p.release(); err != nil {
			t.Fatal(err)
		}
		next := w.acquire(w.process())
		if next.Token() != token+1 {
			t.Errorf("token %d follows the peer's %d", next.Token(), token)
		}
		w.release(next)
	})
}

// beat renews as a live holder does until stop.
func (p *peer) beat() (stop func()) {
	done := make(chan struct{})
	wait := background(func() {
		for tick := time.NewTicker(lease / 3); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				_ = p.renew()
			}
		}
	})
	return func() { close(done); wait() }
}
