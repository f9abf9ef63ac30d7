package lockkit_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/locktest"
)

// plannedWrite is one Write of the property, and how long its caller waits.
type plannedWrite struct{ at, patience time.Duration }

// mark is an item that a write raises, with a line that is in the order in which
// the writes were carried out.
func mark(id int, token int64) []types.TransactWriteItem {
	written := fmt.Sprint(token)
	return []types.TransactWriteItem{
		{Update: &types.Update{
			TableName: aws.String(table), Key: rowKey(id), UpdateExpression: aws.String("ADD #n :one"),
			ExpressionAttributeNames: map[string]string{"#n": "n"}, ExpressionAttributeValues: map[string]types.AttributeValue{":one": n("1")},
		}},
		{Update: &types.Update{
			TableName: aws.String(table), Key: lineKey(), UpdateExpression: aws.String("SET #l = list_append(if_not_exists(#l, :none), :l)"),
			ExpressionAttributeNames: map[string]string{"#l": "line"},
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":none": &types.AttributeValueMemberL{}, ":l": &types.AttributeValueMemberL{Value: []types.AttributeValue{n(written)}},
			},
		}},
	}
}

func rowKey(id int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": s("mark"), "sk": s(fmt.Sprint(id))}
}

func lineKey() map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": s("line"), "sk": s("line")}
}

// TestWriteUnderAnyFaults disturbs every request at will, robs the holder of its
// lock at any moment without its knowledge, and lets its successor write at once:
// no write is carried out twice, none after a successor's, and each caller is
// told the truth.
func TestWriteUnderAnyFaults(t *testing.T) {
	tenths := func(most int) *rapid.Generator[time.Duration] {
		return rapid.Map(rapid.IntRange(1, most), func(n int) time.Duration { return time.Duration(n) * 100 * time.Millisecond })
	}
	writes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plannedWrite {
		return plannedWrite{at: tenths(600).Draw(t, "at"), patience: tenths(200).Draw(t, "patience")}
	}), 1, 12)
	kinds := []locktest.FaultKind{
		locktest.FaultDropAnswer, locktest.FaultFailBefore, locktest.FaultDelay, locktest.FaultDelayAnswer,
		locktest.FaultBlackHole, locktest.FaultLate, locktest.FaultThrottle, locktest.FaultConflict,
	}
	faults := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) locktest.Fault {
		return locktest.Fault{
			Operation: rapid.SampledFrom([]string{"TransactWriteItems", "TransactWriteItems", "TransactWriteItems", ""}).Draw(t, "operation"),
			Kind:      rapid.SampledFrom(kinds).Draw(t, "kind"), Skip: rapid.IntRange(0, 12).Draw(t, "skip"),
			Count: rapid.IntRange(1, 6).Draw(t, "count"), Wait: tenths(900).Draw(t, "wait"),
		}
	}), 0, 8)
	rapid.Check(t, func(rt *rapid.T) {
		plan, disturb := writes.Draw(rt, "writes"), faults.Draw(rt, "faults")
		robbed := tenths(900).Draw(rt, "robbed")
		var broken []string
		synctest.Test(t, func(t *testing.T) { broken = writeUnderFaults(t, plan, disturb, robbed) })
		if len(broken) > 0 {
			rt.Fatalf("%d faults, the first: %s", len(broken), broken[0])
		}
	})
}

// writeUnderFaults carries out one plan and returns what was wrong with it.
func writeUnderFaults(t *testing.T, plan []plannedWrite, disturb []locktest.Fault, robbed time.Duration) (broken []string) {
	t.Helper()
	w := &world{t: t, db: locktest.New()}
	w.client = w.db.Client()
	if err := locktest.CreateTable(t.Context(), w.client, table, "pk", "sk"); err != nil {
		t.Fatal(err)
	}
	l := w.acquire(w.process())
	var calm []func()
	for _, f := range disturb {
		calm = append(calm, w.db.Inject(f))
	}
	told := make([]error, len(plan))
	var all sync.WaitGroup
	for i, p := range plan {
		all.Go(func() {
			time.Sleep(p.at)
			ctx, cancel := context.WithTimeout(t.Context(), p.patience)
			defer cancel()
			told[i] = l.Write(ctx, mark(i, l.Token())...)
		})
	}
	all.Go(func() {
		time.Sleep(robbed)
		// What the test does itself passes by the faults.
		item, successor := w.item(), l.Token()+1
		item["owner"], item["rvn"], item["fence"] = s("successor"), s("v"), n(fmt.Sprint(successor))
		w.plant(item)
		line := lineKey()
		line["line"] = &types.AttributeValueMemberL{Value: append(w.line(), n(fmt.Sprint(successor)))}
		if err := w.db.Put(table, line); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	for _, stop := range calm {
		stop()
	}
	_ = l.Release(t.Context())
	time.Sleep(3 * time.Minute) // what is late arrives
	fault := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	highest := "0"
	for _, v := range w.line() {
		token := v.(*types.AttributeValueMemberN).Value
		if token < highest {
			fault("a write with token %s came after one with %s", token, highest)
		}
		highest = max(highest, token)
	}
	for i, err := range told {
		times := "0"
		if v, ok := w.db.Item(table, rowKey(i))["n"].(*types.AttributeValueMemberN); ok {
			times = v.Value
		}
		switch {
		case times != "0" && times != "1":
			fault("write %d was carried out %s times", i, times)
		case err == nil && times == "0":
			fault("write %d reports success and was not carried out", i)
		case err != nil && !errors.Is(err, lockkit.ErrUnknownOutcome) && times == "1":
			fault("write %d was carried out and reports %v", i, err)
		}
	}
	return broken
}

func (w *world) line() []types.AttributeValue {
	l, ok := w.db.Item(table, lineKey())["line"].(*types.AttributeValueMemberL)
	if !ok {
		return nil
	}
	return l.Value
}
