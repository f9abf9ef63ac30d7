package scenario

import (
	"context"
	"fmt"

	"github.com/solotick/solotick/lockkit/singleton"
)

// caching is the act of cache-refresh: what befalls a job whose effect is outside
// of DynamoDB, where only the fencing token protects it.
type caching struct {
	*act
	lost attempt // the retry of the run that was frozen
}

func (c *caching) environment() map[string]string {
	return map[string]string{"SOLOTICK_CACHE_SOURCE": c.services.source, "SOLOTICK_CACHE_TARGET": c.services.target}
}

func (c *caching) steps() []step {
	return []step{
		{"a document that is new, and then unchanged", c.unchanged},
		{"a run is frozen with a document in its hands, taken over, and wakes up", c.freeze},
		{"the next tick, and Lambda's retry of the run that was lost", c.after},
	}
}

func (c *caching) unchanged(ctx context.Context) error {
	c.publish(1)
	if err := c.normal(ctx, 1, "a run that finds a new document"); err != nil {
		return err
	}
	return c.normal(ctx, 2, "a run that finds the same document")
}

// freeze stops a run between its pull and its put. The put is kept at the target's
// door until the successor has finished, in case it is on its way already.
func (c *caching) freeze(ctx context.Context) error {
	c.publish(2)
	letIn := c.services.keepOut(document(2))
	defer letIn()
	frozen, err := c.deliverOne(3)
	if err != nil {
		return err
	}
	d, err := c.history.await(ctx, frozen, 1, "the document that is to be put", isAtWork(1))
	if err != nil {
		return err
	}
	if err := c.lambda.Freeze(d.env); err != nil {
		return err
	}
	c.expect("the run that is frozen", first(frozen), singleton.Lost)
	c.publish(3)
	next, err := c.deliverOne(4)
	if err != nil {
		return err
	}
	c.expect("the next tick, which takes over", first(next), singleton.Completed).takeover = true
	if err := c.ended(ctx, first(next)); err != nil {
		return err
	}
	letIn()
	if err := c.lambda.Thaw(d.env); err != nil {
		return err
	}
	c.lost = attempt{frozen, 2}
	c.expect("Lambda's retry of the lost run", c.lost, singleton.Superseded, singleton.Skipped)
	return c.ended(ctx, first(frozen))
}

func (c *caching) after(ctx context.Context) error {
	c.publish(4)
	if err := c.normal(ctx, 5, "a normal run"); err != nil {
		return err
	}
	return c.ended(ctx, c.lost)
}

func (c *caching) publish(version int) {
	c.services.publish(version)
	c.note("the source has document %s", document(version))
}

// document is the name of a version: its ETag and its text.
func document(version int) string { return fmt.Sprintf(`"v%d"`, version) }
