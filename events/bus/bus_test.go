package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/smithy-go"

	"github.com/solotick/solotick/events"
	"github.com/solotick/solotick/events/bus"
)

// service is an EventBridge that keeps what it accepts. fails says how it treats
// an entry; nil: it accepts.
type service struct {
	mu       sync.Mutex
	calls    [][]types.PutEventsRequestEntry
	accepted []string // jobs, in the order they were accepted
	fails    func(call int, job string) (code string)
	err      func(call int) error // of a whole call
}

func (s *service) PutEvents(ctx context.Context, in *eventbridge.PutEventsInput, _ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	call := len(s.calls)
	s.calls = append(s.calls, slices.Clone(in.Entries))
	if s.err != nil {
		if err := s.err(call); err != nil {
			return nil, err
		}
	}
	out := &eventbridge.PutEventsOutput{}
	for _, e := range in.Entries {
		var detail events.Header
		if err := json.Unmarshal([]byte(aws.ToString(e.Detail)), &detail); err != nil {
			return nil, err
		}
		r := types.PutEventsResultEntry{EventId: aws.String("id")}
		if s.fails != nil {
			if code := s.fails(call, detail.Job); code != "" {
				r = types.PutEventsResultEntry{ErrorCode: aws.String(code), ErrorMessage: aws.String("said no")}
				out.FailedEntryCount++
			}
		}
		if r.EventId != nil {
			s.accepted = append(s.accepted, detail.Job)
		}
		out.Entries = append(out.Entries, r)
	}
	return out, nil
}

func (s *service) bus(t *testing.T) *bus.Bus {
	t.Helper()
	b, err := bus.New("main", func() bus.Client { return s })
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// gaps are n details, told apart by their jobs.
func gaps(n int) (details []events.Detail, jobs []string) {
	for i := range n {
		jobs = append(jobs, fmt.Sprintf("job-%02d", i))
		details = append(details, events.Gap{Header: events.Header{Job: jobs[i], At: time.Now()}})
	}
	return details, jobs
}

func TestGuaranteeCallsStayWithinTheLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 10, 11, 25} {
			s := &service{}
			details, jobs := gaps(n)
			if err := s.bus(t).Publish(t.Context(), details...); err != nil || !slices.Equal(s.accepted, jobs) {
				t.Fatalf("%d events: %v, accepted %v", n, err, s.accepted)
			}
			if want := (n + 9) / 10; len(s.calls) != want {
				t.Errorf("%d events in %d calls, expected %d", n, len(s.calls), want)
			}
		}
		// Texts of the largest size that can be sent, each byte escaped to six.
		s := &service{}
		big := strings.Repeat("\x01", 2*events.MaxText)
		counts := map[string]int64{}
		for i := range 2 * events.MaxCounts {
			counts[fmt.Sprint(i)+big] = 1
		}
		var details []events.Detail
		for range 10 {
			details = append(details, events.RunEnded{
				Header:  events.Header{Job: big, Holder: big, RequestID: big, RunID: big, At: time.Now()},
				Outcome: big, HeldBy: big, PausedBy: big, Warning: big, Error: big, Counts: counts,
			})
		}
		if err := s.bus(t).Publish(t.Context(), details...); err != nil {
			t.Fatal(err)
		}
		sent := 0
		for _, call := range s.calls {
			bytes := 0
			for _, e := range call {
				bytes += 14 + len(*e.Source) + len(*e.DetailType) + len(*e.Detail)
			}
			if bytes >= 256<<10 {
				t.Errorf("a call of %d bytes", bytes)
			}
			sent += len(call)
		}
		if sent != 10 || len(s.calls) < 4 {
			t.Errorf("%d entries in %d calls", sent, len(s.calls))
		}
	})
}

func TestGuaranteeOnlyFailedEntriesAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{fails: func(call int, job string) string {
			switch {
			case call == 0 && job == "job-01":
				return "ThrottlingException"
			case call < 2 && job == "job-03":
				return "InternalFailure"
			}
			return ""
		}}
		details, _ := gaps(5)
		if err := s.bus(t).Publish(t.Context(), details...); err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for _, call := range s.calls {
			sizes = append(sizes, len(call))
		}
		slices.Sort(s.accepted)
		if !slices.Equal(sizes, []int{5, 2, 1}) || strings.Join(s.accepted, " ") != "job-00 job-01 job-02 job-03 job-04" {
			t.Errorf("calls of %v entries, accepted %v", sizes, s.accepted)
		}
	})
}

func TestGuaranteeNilMeansAccepted(t *testing.T) {
	throttled := &smithy.GenericAPIError{Code: "ThrottlingException", Fault: smithy.FaultClient}
	denied := &smithy.GenericAPIError{Code: "AccessDeniedException", Fault: smithy.FaultClient}
	noBus := &types.ResourceNotFoundException{}
	for _, test := range []struct {
		name    string
		fails   func(int, string) string
		err     func(int) error
		missing int // 0: Publish succeeds
		calls   int
		want    string
	}{
		{name: "an outage that passes", err: func(call int) error { return map[int]error{0: errors.New("reset"), 1: throttled}[call] }, calls: 3},
		{name: "an outage that stays", err: func(int) error { return errors.New("reset") }, missing: 3, calls: 4, want: "tried 4 times: reset"},
		{name: "an entry that is always throttled", fails: func(_ int, job string) string { return map[string]string{"job-01": "ThrottlingException"}[job] }, missing: 1, calls: 4, want: "ThrottlingException: said no"},
		{name: "not allowed to call", err: func(int) error { return denied }, missing: 3, calls: 1, want: "AccessDeniedException"},
		{name: "not allowed to send this", fails: func(_ int, job string) string {
			return map[string]string{"job-02": "NotAuthorizedForSourceException"}[job]
		}, missing: 1, calls: 1, want: "NotAuthorizedForSourceException: said no"},
		{name: "no such bus", err: func(int) error { return noBus }, missing: 3, calls: 1, want: bus.ErrNoBus.Error()},
		{name: "no such bus, told by the entry", fails: func(int, string) string { return "ResourceNotFoundException" }, missing: 3, calls: 1, want: bus.ErrNoBus.Error()},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{fails: test.fails, err: test.err}
			details, _ := gaps(3)
			err := s.bus(t).Publish(t.Context(), details...)
			if len(s.calls) != test.calls {
				t.Errorf("%s: %d calls, expected %d", test.name, len(s.calls), test.calls)
			}
			failed, typed := errors.AsType[*bus.PublishError](err)
			switch {
			case test.missing == 0 && err != nil:
				t.Errorf("%s: %v", test.name, err)
			case test.missing == 0:
			case !typed || failed.Missing != test.missing || failed.Of != 3 || failed.Bus != "main" || !strings.Contains(err.Error(), test.want):
				t.Errorf("%s: got %v, expected %d missing and %s", test.name, err, test.missing, test.want)
			}
			if strings.HasPrefix(test.name, "no such bus") != errors.Is(err, bus.ErrNoBus) {
				t.Errorf("%s: %v", test.name, err)
			}
			if len(s.accepted)+test.missing != 3 {
				t.Errorf("%s: accepted %v", test.name, s.accepted)
			}
		})
	}
}

func TestAnEntryWithoutAnIDIsNotAccepted(t *testing.T) {
	b, err := bus.New("main", func() bus.Client { return silent{} })
	if err != nil {
		t.Fatal(err)
	}
	details, _ := gaps(2)
	if err := b.Publish(t.Context(), details...); err == nil || !strings.Contains(err.Error(), "2 of 2 events were not accepted") || !strings.Contains(err.Error(), "neither an id nor an error") {
		t.Errorf("got %v", err)
	}
}

// silent answers without a word on any entry.
type silent struct{}

func (silent) PutEvents(context.Context, *eventbridge.PutEventsInput, ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	return &eventbridge.PutEventsOutput{}, nil
}

func TestPublishTakesABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := bus.New("main", func() bus.Client { return hung{} })
		if err != nil {
			t.Fatal(err)
		}
		details, _ := gaps(25)
		ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, errors.New("half a second"))
		defer cancel()
		begin := time.Now()
		err = b.Publish(ctx, details...)
		if took := time.Since(begin); took != 500*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "25 of 25") {
			t.Errorf("%v after %s", err, took)
		}
		begin = time.Now()
		err = b.Publish(t.Context(), details...)
		if took := time.Since(begin); took != bus.MaxTime || !strings.Contains(err.Error(), "25 of 25") || !strings.Contains(err.Error(), "not accepted within 5s") {
			t.Errorf("without a deadline: %v after %s", err, took)
		}
	})
}

// hung never answers.
type hung struct{}

func (hung) PutEvents(ctx context.Context, _ *eventbridge.PutEventsInput, _ ...func(*eventbridge.Options)) (*eventbridge.PutEventsOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestADetailThatCannotBeEncodedSendsNothing(t *testing.T) {
	s := &service{}
	details, _ := gaps(2)
	err := s.bus(t).Publish(t.Context(), append(details, events.Gap{})...)
	if err == nil || !strings.Contains(err.Error(), "without a job") || len(s.calls) != 0 {
		t.Errorf("%v, %d calls", err, len(s.calls))
	}
}

func TestTheClientIsMadeAtTheFirstPublish(t *testing.T) {
	made := 0
	s := &service{}
	b, err := bus.New("main", func() bus.Client { made++; return s })
	if err != nil {
		t.Fatal(err)
	}
	details, _ := gaps(1)
	for want, publish := range [][]events.Detail{nil, details, details} {
		if err := b.Publish(t.Context(), publish...); err != nil || made != min(want, 1) {
			t.Errorf("publish %d: %v, %d clients", want, err, made)
		}
	}
	if _, err := bus.New("", nil); err == nil || !strings.Contains(err.Error(), "name of the event bus is empty") {
		t.Errorf("no name: %v", err)
	}
	if _, err := bus.New("main", nil); err == nil || !strings.Contains(err.Error(), `connect is nil for bus "main"`) {
		t.Errorf("no client: %v", err)
	}
}

// The real client, so that what it sends and how it is told to retry are tried.
func TestTheRealClientSendsWhatTheServiceExpects(t *testing.T) {
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Entries []struct{ Source, DetailType, Detail, EventBusName string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		for _, e := range body.Entries {
			bodies = append(bodies, r.Header.Get("X-Amz-Target")+" "+e.EventBusName+" "+e.Source+" "+e.DetailType+" "+e.Detail)
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		if len(bodies) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"__type":"InternalException","message":"once"}`))
			return
		}
		_, _ = w.Write([]byte(`{"FailedEntryCount":0,"Entries":[{"EventId":"1"}]}`))
	}))
	defer server.Close()
	b, err := bus.New("main", func() bus.Client {
		return eventbridge.New(eventbridge.Options{
			Region: "eu-central-1", BaseEndpoint: aws.String(server.URL), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 12, 1, 1, 0, 0, 0, time.UTC)
	if err := b.Publish(t.Context(), events.Gap{Header: events.Header{Job: "j", At: at}, From: at, To: at}); err != nil {
		t.Fatal(err)
	}
	want := `AWSEvents.PutEvents main solotick gap {"version":1,"job":"j","at":"2026-12-01T01:00:00Z","from":"2026-12-01T01:00:00Z","to":"2026-12-01T01:00:00Z"}`
	if len(bodies) != 2 || bodies[1] != want {
		t.Errorf("got %q, expected twice %q", bodies, want)
	}
}
