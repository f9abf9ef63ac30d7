package scenario

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/functions/orders"
)

// placed is an order that the scenario put into the table.
type placed struct {
	id  string
	due bool
}

// sweptEvidence is what the verdict on order-sweeper is made from.
type sweptEvidence struct {
	evidence
	placed []placed
	orders map[string]orders.Order
}

func (s *sweeping) gather(ctx context.Context, common evidence) (testimony, error) {
	e := sweptEvidence{evidence: common, placed: s.placed, orders: map[string]orders.Order{}}
	return e, s.scan(ctx, s.tables.orders, func(item map[string]types.AttributeValue) error {
		o, err := orders.Read(item)
		e.orders[o.ID] = o
		return err
	})
}

func (e sweptEvidence) judge() []string {
	return e.evidence.judge(func(fault report) {
		e.checkOrders(fault)
		e.checkTokens(fault)
	}, e.checkRefusals)
}

// checkOrders: each order that was due is closed exactly once, by a run that is
// known; no other is touched.
func (e sweptEvidence) checkOrders(fault report) {
	for _, p := range e.placed {
		state, there := e.orders[p.id]
		switch {
		case !there:
			fault("%s is not in the table any more", p.id)
		case !p.due && (len(state.History) > 0 || state.Status != orders.Placed):
			fault("%s was not due and is %s%s", p.id, state.Status, e.closers(state))
		case p.due && len(state.History) == 0:
			fault("%s was due and was never closed; it is %s", p.id, state.Status)
		case len(state.History) > 1:
			fault("%s was closed %d times%s", p.id, len(state.History), e.closers(state))
		case p.due && state.Status != orders.Closed:
			fault("%s was closed and is %s again", p.id, state.Status)
		}
		for _, c := range state.History {
			if e.runOf(c.Token) == "" {
				fault("%s was closed by token %d, which no run had", p.id, c.Token)
			}
		}
	}
}

// closers tells who closed an order, in the order in which it reached the table.
func (e sweptEvidence) closers(state orders.Order) string {
	var b strings.Builder
	highest := int64(0)
	for i, c := range state.History {
		b.WriteString(map[bool]string{true: ": by ", false: ", then by "}[i == 0])
		b.WriteString(e.tokenName(c.Token))
		if c.Token < highest {
			b.WriteString(", a stale holder")
		}
		highest = max(highest, c.Token)
	}
	return b.String()
}

// checkTokens: over time, no write carries a lower token than one before it.
func (e sweptEvidence) checkTokens(fault report) {
	type write struct {
		order string
		orders.Change
	}
	var writes []write
	for id, state := range e.orders {
		for _, c := range state.History {
			writes = append(writes, write{id, c})
		}
	}
	slices.SortFunc(writes, func(a, b write) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Token, b.Token), cmp.Compare(a.order, b.order))
	})
	var highest write
	for _, w := range writes {
		if w.Token < highest.Token {
			fault("%s was written by %s after %s had closed %s: a write of a stale holder", w.order, e.tokenName(w.Token), e.tokenName(highest.Token), highest.order)
			continue
		}
		highest = w
	}
}

// checkRefusals: the write of the holder that was taken over arrived, and was
// refused.
func (e sweptEvidence) checkRefusals(fault report) {
	if len(e.refusals()) == 0 {
		fault("no stale write was refused, although one arrived after the takeover")
	}
}

// refusals are the writes whose held check failed at the endpoint.
func (e sweptEvidence) refusals() []call {
	return slices.DeleteFunc(slices.Clone(e.calls), func(c call) bool { return !c.Stale })
}

func (e sweptEvidence) summary(t *timeline) {
	t.printf("  stale writes refused by the table: %d\n", len(e.refusals()))
	for _, c := range e.refusals() {
		token, name := int64(0), "?"
		for _, d := range e.deliveries {
			if d.caller == c.Caller && d.token != 0 && !d.started.After(c.At) {
				token, name = d.token, d.name
			}
		}
		t.printf("    %s by token %d (%s) at %.2fs\n", c.Order, token, name, t.since(c.At))
	}
	once, due := 0, 0
	for _, p := range e.placed {
		if p.due {
			due++
			if len(e.orders[p.id].History) == 1 {
				once++
			}
		}
	}
	t.printf("  orders that were due: %d, closed exactly once: %d\n", due, once)
}
