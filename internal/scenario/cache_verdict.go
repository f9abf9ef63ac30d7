package scenario

import (
	"context"
	"slices"
	"strings"
)

// cachedEvidence is what the verdict on cache-refresh is made from.
type cachedEvidence struct {
	evidence
	puts      []put // in the order in which the target decided on them
	published string
}

func (c *caching) gather(_ context.Context, common evidence) (testimony, error) {
	return cachedEvidence{evidence: common, puts: c.services.received(), published: c.services.published()}, nil
}

func (e cachedEvidence) judge() []string {
	return e.evidence.judge(e.checkPuts, func(fault report) {
		e.checkRefusal(fault)
		if has := e.has(); has != e.published {
			fault("the target has document %s, and the source has %s", has, e.published)
		}
	})
}

// checkPuts: no document is put over one of a newer run, and none twice.
func (e cachedEvidence) checkPuts(fault report) {
	var before put
	seen := map[string]bool{}
	for _, p := range e.accepted() {
		if e.runOf(p.Token) == "" {
			fault("document %s was put by token %d, which no run had", p.Document, p.Token)
		}
		if p.Token < before.Token {
			fault("document %s was put by %s after %s had put %s: a stale document over a newer one", p.Document, e.tokenName(p.Token), e.tokenName(before.Token), before.Document)
		}
		if seen[p.Document] {
			fault("document %s was put again, which the target had already", p.Document)
		}
		before, seen[p.Document] = p, true
	}
}

// checkRefusal: the holder that woke up did try to put its document, and the
// target refused it.
func (e cachedEvidence) checkRefusal(fault report) {
	refused := e.refused()
	if len(refused) == 0 {
		fault("no stale put was refused, although a holder woke up after its takeover")
	}
	for _, p := range refused {
		if !slices.ContainsFunc(e.deliveries, func(d delivery) bool { return d.token == p.Token && d.outcome() == "lost" }) {
			fault("document %s of %s was refused, whose run was not lost", p.Document, e.tokenName(p.Token))
		}
	}
}

func (e cachedEvidence) accepted() []put {
	return slices.DeleteFunc(slices.Clone(e.puts), func(p put) bool { return p.Refused })
}

func (e cachedEvidence) refused() []put {
	return slices.DeleteFunc(slices.Clone(e.puts), func(p put) bool { return !p.Refused })
}

// has is the document that the target is left with.
func (e cachedEvidence) has() string {
	accepted := e.accepted()
	if len(accepted) == 0 {
		return "(none)"
	}
	return accepted[len(accepted)-1].Document
}

func (e cachedEvidence) summary(t *timeline) {
	t.printf("  stale puts refused by the target: %d\n", len(e.refused()))
	for _, p := range e.refused() {
		t.printf("    document %s by %s at %.2fs, with status 412\n", p.Document, e.tokenName(p.Token), t.since(p.At))
	}
	var names []string
	for _, p := range e.accepted() {
		names = append(names, p.Document)
	}
	t.printf("  documents that the target took: %s; the source has %s\n", strings.Join(names, ", "), e.published)
}
