package lockkit_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
)

// use does the round's deeds, whether the lease is held or not: it is the work
// of somebody who does not look.
func (p *simProcess) use(ctx context.Context, h *simHold, r simRound) {
	for _, s := range r.Steps {
		if !p.sleep(ctx, p.w.plan.units(s.After)) {
			return
		}
		p.do(ctx, h.lease, s.Do)
	}
}

func (p *simProcess) do(ctx context.Context, l *lockkit.Lease, d simDeed) {
	ctx, stop := context.WithTimeout(ctx, 3*time.Second)
	defer stop()
	switch d {
	case doWrite:
		p.write(ctx, l)
	case doCrowd:
		var crowd sync.WaitGroup
		for i := range 4 {
			crowd.Go(func() {
				for range 8 {
					switch {
					case !p.sleep(ctx, p.w.plan.unit()+apart(i)):
					case i%2 == 0:
						p.write(ctx, l)
					default:
						p.deliver(ctx, l, l.Write)
					}
				}
			})
		}
		crowd.Wait()
	case doTransact:
		p.deliver(ctx, l, l.Transact)
	case doFenced:
		p.deliver(ctx, l, l.Write)
	case doBoth:
		for range 3 {
			var both sync.WaitGroup
			both.Go(func() { p.deliver(ctx, l, l.Transact) })
			if p.sleep(ctx, 20*time.Millisecond) {
				p.do(ctx, l, doRenew)
			}
			both.Wait()
		}
	case doRenew:
		if err := l.Renew(ctx); err == nil && !lockkit.Believes(l) {
			p.w.blame(answersTrue, "a renewal of process %d reports success on a lease that has ended", p.id)
		}
	case doAct:
		_ = l.Err() // step judges who else believes
		p.w.mu.Lock()
		p.w.step()
		p.w.mu.Unlock()
	default:
	}
}

// rawWrite marks the ctx of a request that is none of lockkit's.
type rawWrite struct{}

// write sends a transaction of the caller's own with the held check in it, and
// again after a conflict.
func (p *simProcess) write(ctx context.Context, l *lockkit.Lease) {
	id := p.w.newWrite()
	ctx = context.WithValue(ctx, rawWrite{}, true)
	for {
		_, err := p.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: []types.TransactWriteItem{l.ConditionCheck(), logWrite(l, id)},
		})
		why := lockkit.WhyCancelled(err, 0)
		if why == lockkit.CancelledByConflict && p.sleep(ctx, 20*time.Millisecond) {
			continue
		}
		if state, _ := p.status(); state == dead {
			return
		}
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		p.w.ledger.transacted(id, err == nil, err != nil && why == lockkit.NotCancelled)
		if why == lockkit.CancelledLeaseLost {
			p.w.ledger.fencedOff(p.id, l.Owner(), l.Token())
		}
		return
	}
}

// deliver sends a write by the lease's own means, Write or Transact.
func (p *simProcess) deliver(ctx context.Context, l *lockkit.Lease, send func(context.Context, ...types.TransactWriteItem) error) {
	id := p.w.newWrite()
	err := send(ctx, logWrite(l, id))
	if state, _ := p.status(); state == dead {
		return
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.tell("process %d: transaction %d: %v", p.id, id, err)
	p.w.ledger.transacted(id, err == nil, errors.Is(err, lockkit.ErrUnknownOutcome))
	if lockkit.WhyCancelled(err, 0) == lockkit.CancelledByConflict {
		p.w.ledger.met(p.id, ctx.Err() != nil || !lockkit.Believes(l))
	}
}

// newWrite numbers the fenced writes.
func (w *simWorld) newWrite() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.numbered++
	return w.numbered
}

// logWrite is a write that says who made it.
func logWrite(l *lockkit.Lease, id int) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                aws.String(table),
		Key:                      map[string]types.AttributeValue{"pk": s(logKey), "sk": s(logKey)},
		UpdateExpression:         aws.String("SET #by = :by, #token = :token, #id = :id ADD #n :one"),
		ExpressionAttributeNames: map[string]string{"#by": "by", "#token": "token", "#n": "n", "#id": "id"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":by": s(l.Owner()), ":token": n(strconv.FormatInt(l.Token(), 10)), ":one": n("1"), ":id": n(strconv.Itoa(id)),
		},
	}}
}

// logged is the item of the fenced writes: the newest of them, and how many
// there were.
type logState struct {
	owner        string
	token, count int64
	id           int
}

func (w *simWorld) logged() logState {
	it := w.db.Item(table, map[string]types.AttributeValue{"pk": s(logKey), "sk": s(logKey)})
	number := func(name string) int64 {
		v, ok := it[name].(*types.AttributeValueMemberN)
		if !ok {
			return 0
		}
		i, _ := strconv.ParseInt(v.Value, 10, 64)
		return i
	}
	owner, _ := it["by"].(*types.AttributeValueMemberS)
	if owner == nil {
		return logState{}
	}
	return logState{owner.Value, number("token"), number("n"), int(number("id"))}
}
