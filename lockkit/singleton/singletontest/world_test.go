package singletontest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/solotick/solotick/lockkit"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/singletontest"
)

func TestRunDeliversOneTickAndLeavesTheTables(t *testing.T) {
	due := time.Date(2031, 2, 3, 4, 5, 6, 7_000_999, time.UTC)
	began := time.Now()
	got := singletontest.Run(t, spec, billing(repeatable), singletontest.At(due), singletontest.Setup(billsTable))
	due = due.Truncate(time.Millisecond)
	if got.Err != nil || got.Result.Outcome != singleton.Completed || !got.Result.Tick.Equal(due) || got.Result.RequestID != "request-1" {
		t.Errorf("%+v, %v", got.Result, got.Err)
	}
	if got.World.DB.Item(bills, billOf(due)) == nil || !got.World.Completed(spec.Name).Equal(due) || len(got.World.Requests()) != 3 {
		t.Errorf("bill %v, completed %s, requests %v", got.World.DB.Item(bills, billOf(due)), got.World.Completed(spec.Name), got.World.Requests())
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

// works until its ctx ends, and says that it works.
func untilTold(working chan<- struct{}) singletontest.Program {
	return func(*singletontest.Process) singleton.Work {
		return func(ctx context.Context, _ *singleton.Run) error {
			close(working)
			<-ctx.Done()
			return context.Cause(ctx)
		}
	}
}

func TestAKilledProcessReachesNothingAndIsTakenOver(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		working, p := make(chan struct{}), w.Process()
		ended := p.Start(spec, untilTold(working), singletontest.At(time.Now()))
		<-working
		p.Kill()
		sent := len(w.Requests())
		time.Sleep(time.Minute)
		if now := len(w.Requests()); now != sent {
			t.Errorf("%d requests of the dead", now-sent)
		}
		got := w.Deliver(spec, billing(repeatable), singletontest.At(time.Now()))
		if got.Result.Outcome != singleton.Completed || got.Result.Takeover == nil || got.Result.Takeover.Holder != "process-1" {
			t.Errorf("%+v, %v", got.Result, got.Err)
		}
		select {
		case e := <-ended:
			t.Errorf("the dead run ended: %s", e)
		default:
		}
	}, singletontest.Setup(billsTable))
}

func TestAFrozenProcessGoesOnWhenItIsThawed(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		working, p := make(chan struct{}), w.Process()
		ended := p.Start(spec, untilTold(working), singletontest.At(time.Now()))
		<-working
		p.Freeze()
		p.Freeze()
		got := w.Deliver(spec, billing(repeatable), singletontest.At(time.Now()))
		if got.Result.Outcome != singleton.Completed || got.Result.Takeover == nil {
			t.Errorf("%+v, %v", got.Result, got.Err)
		}
		p.Thaw()
		p.Thaw()
		if e := <-ended; e.Result.Outcome != singleton.Lost || !errors.Is(e.Err, lockkit.ErrLeaseLost) {
			t.Errorf("%+v, %v", e.Result, e.Err)
		}
		if again := p.Start(spec, billing(repeatable), singletontest.At(time.Now())); (<-again).Result.Outcome != singleton.Completed {
			t.Error("the environment cannot be used again")
		}
	}, singletontest.Setup(billsTable))
}

func TestAPanicEndsTheProcess(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		p := w.Process()
		panics := func(*singletontest.Process) singleton.Work {
			return func(context.Context, *singleton.Run) error { panic("ouch") }
		}
		if e := <-p.Start(spec, panics, singletontest.At(time.Now())); e.Panic != "ouch" || !strings.Contains(e.String(), "ouch") {
			t.Errorf("%+v", e)
		}
		client := p.Client()
		go func() {
			_, _ = client.GetItem(w.T.Context(), &dynamodb.GetItemInput{TableName: aws.String("locks"), Key: map[string]types.AttributeValue{"pk": text("a"), "sk": text("b")}})
		}()
		time.Sleep(time.Hour)
		if sent := len(w.Requests()); sent != 2 {
			t.Errorf("%d requests, want the acquire and the release", sent)
		}
	})
}

func TestAnotherTable(t *testing.T) {
	got := singletontest.Run(t, spec, billing(overwriting), singletontest.At(time.Unix(1_000_000_000, 0)),
		singletontest.Setup(billsTable), singletontest.Table("app", "key", ""), singletontest.LockOptions(lockkit.WithTTL("expires", 0)))
	if got.Err != nil || got.World.Completed(spec.Name).Unix() != 1_000_000_000 || got.World.Lock("other") != nil {
		t.Errorf("%+v, %v, lock %v", got.Result, got.Err, got.World.Lock(spec.Name))
	}
}

// mailer is a job whose effect is a request to a server: one mail for each key that
// the server has not seen.
func mailer(server http.Handler) singletontest.Program {
	return func(p *singletontest.Process) singleton.Work {
		client := &http.Client{Transport: p.Transport(singletontest.Server(server))}
		return func(ctx context.Context, run *singleton.Run) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://mail.example/send?x=1", strings.NewReader(run.Tick.String()))
			if err != nil {
				return err
			}
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return errors.New(resp.Status)
			}
			return nil
		}
	}
}

func TestRequestsToOtherServersAreDisturbedToo(t *testing.T) {
	var mu sync.Mutex // a handler is called by many at a time; the check by nobody else
	var mails, keys map[string]int
	reset := func(*singletontest.World) { mails, keys = map[string]int{}, map[string]int{} }
	check := func(w *singletontest.World) error {
		if n := mails[w.Completed(spec.Name).String()]; n != 1 {
			return errors.New("not one mail")
		}
		return nil
	}
	server := func(idempotent bool) http.Handler {
		return http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
			body, err := io.ReadAll(in.Body)
			if err != nil || in.Host != "mail.example" || in.RequestURI != "/send?x=1" {
				t.Errorf("%v: %s %s", err, in.Host, in.RequestURI)
			}
			mu.Lock()
			defer mu.Unlock()
			if keys[string(body)]++; !idempotent || keys[string(body)] == 1 {
				mails[string(body)]++
			}
		})
	}
	r := singletontest.CrashEverywhere(t, spec, mailer(server(true)), check, singletontest.Setup(reset))
	if len(r.Requests) != 3 || r.Requests[1].String() != "POST mail.example/send" {
		t.Errorf("%v", r.Requests)
	}
	r, err := singletontest.Enumerate(t, spec, mailer(server(false)), check, singletontest.Setup(reset))
	if err != nil || len(r.Wrong()) == 0 || r.Points[0].Err != nil {
		t.Errorf("%v\n%s", err, r)
	}
}

func TestAHandlerThatPanicsBreaksTheConnection(t *testing.T) {
	singletontest.Test(t, func(w *singletontest.World) {
		broken := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		if e := w.Deliver(spec, mailer(broken), singletontest.At(time.Now())); e.Result.Outcome != singleton.Failed || !strings.Contains(e.Err.Error(), "connection reset") {
			t.Errorf("%+v, %v", e.Result, e.Err)
		}
	})
}

// A work that ignores its ctx is reported as the panic that ends its process, and
// the bubble ends when the work has.
func TestAWorkThatIgnoresItsCtxIsReported(t *testing.T) {
	var returned time.Time
	ignores := func(*singletontest.Process) singleton.Work {
		return func(context.Context, *singleton.Run) error {
			time.Sleep(3 * time.Hour)
			returned = time.Now()
			return nil
		}
	}
	got := singletontest.Run(t, spec, ignores, singletontest.At(time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)))
	if err, ok := got.Panic.(error); !ok || !strings.Contains(err.Error(), "ignores its context") {
		t.Errorf("panic %v, %s", got.Panic, got)
	}
	if returned.IsZero() {
		t.Error("the test ended before the work")
	}
}
