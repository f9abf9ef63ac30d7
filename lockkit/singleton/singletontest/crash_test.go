package singletontest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/singletontest"
)

func TestARepeatableJobIsRightAtEveryPoint(t *testing.T) {
	r := singletontest.CrashEverywhere(t, spec, billing(repeatable), sentOnce, singletontest.Setup(billsTable))
	t.Log(r)
	const requests, disturbances = 3, 10 // acquire, transaction, release
	if len(r.Requests) != requests || len(r.Points) != requests*disturbances {
		t.Errorf("%d requests and %d points", len(r.Requests), len(r.Points))
	}
}

// wrongAt lists the points that went wrong: the number of the request and the
// first words of the disturbance.
func wrongAt(r singletontest.Report) []string {
	var at []string
	for _, p := range r.Wrong() {
		name, rest, _ := strings.Cut(p.Disturbance, ",")
		if strings.Contains(rest, "next tick") {
			name += ", next"
		}
		at = append(at, fmt.Sprintf("%d %s", p.Number, name))
	}
	return at
}

// Each job here is wrong in a way of its own, and is found where that shows and
// nowhere else.
func TestJobsThatAreWrongAreFoundWhereTheyAre(t *testing.T) {
	for name, test := range map[string]struct {
		program singletontest.Program
		check   func(*singletontest.World) error
		at      []string
	}{
		"an effect that is fenced and not committed is repeated": {billing(fenced), sentOnce, []string{
			"3 the process dies before it", "2 the process dies after it",
			"3 taken over before it by the same tick", "2 taken over after it by the same tick",
		}},
		// The SDK tries again after a lost connection, and a plain write has no
		// request token that would make the second try the same as the first.
		"an effect that nothing protects is repeated, and by a stale run too": {billing(plain), sentOnce, []string{
			"3 the process dies before it", "2 the process dies after it", "2 its answer is lost",
			"2 taken over before it by the same tick", "3 taken over before it by the same tick", "2 taken over after it by the same tick",
		}},
		"a write that is not fenced replaces that of a newer run": {billing(overwriting), sentByTheNewest, []string{
			"2 taken over before it by the same tick",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := singletontest.Enumerate(t, spec, test.program, test.check, singletontest.Setup(billsTable))
			if err != nil {
				t.Fatal(err)
			}
			if got := wrongAt(r); !slices.Equal(got, test.at) {
				t.Errorf("found at %q, want %q", got, test.at)
			}
		})
	}
}

// overwriting puts a bill that is the same however often it is put, apart from the
// run that put it.
func overwriting(ctx context.Context, client *dynamodb.Client, run *singleton.Run) error {
	bill := maps.Clone(billOf(run.Tick))
	bill["by"] = number(run.Token())
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(bills), Item: bill})
	return err
}

func sentByTheNewest(w *singletontest.World) error {
	by, _ := w.DB.Item(bills, billOf(w.Completed(spec.Name)))["by"].(*types.AttributeValueMemberN)
	newest, _ := w.Lock(spec.Name)[lockkit.AttrFence].(*types.AttributeValueMemberN)
	if by == nil || by.Value != newest.Value {
		return fmt.Errorf("the bill is by %v, the newest token is %v", by, newest)
	}
	return nil
}

// Requests of the heartbeat are requests too.
func TestEachRenewalIsAPoint(t *testing.T) {
	slow := func(ctx context.Context, client *dynamodb.Client, run *singleton.Run) error {
		select {
		case <-time.NewTimer(5 * time.Second).C:
			return repeatable(ctx, client, run)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r := singletontest.CrashEverywhere(t, spec, billing(slow), sentOnce, singletontest.Setup(billsTable))
	if len(r.Requests) != 4 {
		t.Errorf("%v, want acquire, renewal, transaction, release", r.Requests)
	}
}

// A tick that is too old when Lambda tries again is left to the next one.
func TestARedeliveryThatExpiresIsCoveredByTheNextTick(t *testing.T) {
	young := spec
	young.MaxAge = time.Minute
	r := singletontest.CrashEverywhere(t, young, billing(repeatable), sentOnce, singletontest.Setup(billsTable), singletontest.Ticks(
		time.Date(2000, 3, 1, 2, 0, 0, 0, time.UTC), time.Date(2000, 3, 2, 2, 0, 0, 0, time.UTC)))
	for _, p := range r.Points {
		if len(p.Story) == 0 || !strings.Contains(p.Story[0], "2000-03-01 02:00:00") {
			t.Fatalf("the first tick: %s", p)
		}
	}
}

func TestAJobThatNeverCompletesIsRefused(t *testing.T) {
	fails := func(context.Context, *dynamodb.Client, *singleton.Run) error { return fmt.Errorf("no paper") }
	_, err := singletontest.Enumerate(t, spec, billing(fails), sentOnce, singletontest.Setup(billsTable))
	for _, part := range []string{`"billing" goes wrong without any disturbance`, "not completed after 10 deliveries", "no paper"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	_, err = singletontest.Enumerate(t, spec, billing(repeatable), sentOnce, singletontest.Ticks(time.Unix(1, 0), time.Unix(1, 0)))
	if err == nil || !strings.Contains(err.Error(), "Ticks") {
		t.Errorf("two equal ticks: %v", err)
	}
}

func TestAPanicIsNamed(t *testing.T) {
	panics := func(context.Context, *dynamodb.Client, *singleton.Run) error { panic("a nil map") }
	_, err := singletontest.Enumerate(t, spec, billing(panics), sentOnce, singletontest.Setup(billsTable))
	if err == nil || !strings.Contains(err.Error(), "panicked: a nil map") || strings.Contains(err.Error(), "dies") {
		t.Error(err)
	}
}

func TestWithoutACheckNothingIsTried(t *testing.T) {
	if _, err := singletontest.Enumerate(t, spec, billing(repeatable), nil); err == nil || !strings.Contains(err.Error(), "check of job") {
		t.Error(err)
	}
	if _, err := singletontest.Enumerate(t, spec, nil, sentOnce); err == nil || !strings.Contains(err.Error(), "program of job") {
		t.Error(err)
	}
}

// Ticks further apart than the CatchUp leave a time that no run covers: the story
// says so, where it is what makes the check fail.
func TestAGapIsNamed(t *testing.T) {
	short := spec
	short.CatchUp = time.Hour
	wrong := func(*singletontest.World) error { return fmt.Errorf("the first is missing") }
	_, err := singletontest.Enumerate(t, short, billing(repeatable), wrong, singletontest.Setup(billsTable), singletontest.Ticks(
		time.Date(2000, 3, 1, 2, 0, 0, 0, time.UTC), time.Date(2000, 3, 2, 2, 0, 0, 0, time.UTC)))
	if err == nil || !strings.Contains(err.Error(), "further back than the job's CatchUp") {
		t.Error(err)
	}
}

// What the kit checks by itself: a table that forgets which ticks are done.
func TestADoneTickThatRunsAgainIsFound(t *testing.T) {
	forgets := func(p *singletontest.Process) singleton.Work {
		if lock := p.World().Lock(spec.Name); lock != nil {
			delete(lock, lockkit.AttrTick)
			p.World().Put("locks", lock)
		}
		return billing(repeatable)(p)
	}
	_, err := singletontest.Enumerate(t, spec, forgets, sentOnce, singletontest.Setup(billsTable))
	if err == nil || !strings.Contains(err.Error(), "done was delivered again, and its run ended as: completed") {
		t.Error(err)
	}
}

func TestATickReportedAndNotRecordedIsFound(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		told := singletontest.Ended{Result: singleton.Result{Outcome: singleton.Completed, Marked: true}}
		if err := singletontest.Judge(w, spec, time.Unix(1, 0), told); err == nil || !strings.Contains(err.Error(), "does not call it completed") {
			t.Error(err)
		}
		told.Result.Marked = false
		if err := singletontest.Judge(w, spec, time.Unix(1, 0), told); err != nil {
			t.Errorf("a run that says it did not mark: %v", err)
		}
	})
}
