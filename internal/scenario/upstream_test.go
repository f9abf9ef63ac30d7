package scenario

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/solotick/solotick/functions"
	"github.com/solotick/solotick/lockkit/locktest"
)

func TestOnlyADynamoDBIsTakenAsOne(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, test := range map[string]struct {
		handler http.Handler
		want    string // "": it is one
	}{
		"DynamoDB":     {locktest.New(), ""},
		"web page":     {answer(200, "<html>"), "status 200"},
		"empty":        {answer(200, ""), "empty"},
		"other JSON":   {answer(200, `{"ok":true}`), "empty"},
		"no POST":      {answer(501, "<html>Unsupported method"), "status 501"},
		"JSON error":   {answer(404, `{"message":"no such page"}`), "status 404"},
		"another door": {http.RedirectHandler("/login", http.StatusFound), "status 302"},
		"no entry":     {answer(400, `{"__type":"x#UnrecognizedClientException","message":"who are you"}`), "UnrecognizedClientException: who are you"},
		"breaks off":   {http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(test.handler)
			defer server.Close()
			_, err := findUpstream(t.Context(), server.URL, "absent", nil)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("taken as a DynamoDB")
			}
			for _, want := range []string{"DYNAMODB_ENDPOINT is " + server.URL, test.want, wayOut} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
		})
	}
}

// mortal is a DynamoDB that breaks every connection while it is dead.
type mortal struct {
	http.Handler
	dead   atomic.Bool
	within bool // it dies within the answer
}

// ServeHTTP answers while it lives.
func (m *mortal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !m.dead.Load() {
		m.Handler.ServeHTTP(w, r)
		return
	}
	if m.within {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("{"))
	}
	panic(http.ErrAbortHandler)
}

func TestAnEndpointThatStopsAnsweringIsToldOnce(t *testing.T) {
	for name, within := range map[string]bool{"before an answer": false, "within an answer": true} {
		t.Run(name, func(t *testing.T) {
			m := &mortal{Handler: locktest.New(), within: within}
			server := httptest.NewServer(m)
			defer server.Close()
			var told []error
			other, err := findUpstream(t.Context(), server.URL, "locks", func(err error) { told = append(told, err) })
			if err != nil {
				t.Fatal(err)
			}
			e, err := listen(t.Context(), "127.0.0.1:0", other, "locks", func(call) {})
			if err != nil {
				t.Fatal(err)
			}
			defer e.close(context.WithoutCancel(t.Context()))
			ask := func() error {
				_, err := newClient(e.url).ListTables(t.Context(), &dynamodb.ListTablesInput{}, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
				return err
			}
			for _, step := range []struct{ failures, told int }{{lostAfter - 1, 0}, {lostAfter + 1, 1}} {
				m.dead.Store(true)
				for range step.failures {
					err := ask()
					if api, ok := errors.AsType[smithy.APIError](err); !ok || api.ErrorCode() != "InternalServerError" {
						t.Errorf("expected DynamoDB's own error, got %v", err)
					}
				}
				if len(told) != step.told {
					t.Errorf("told %v, expected %d", told, step.told)
				}
				m.dead.Store(false)
				if err := ask(); err != nil {
					t.Error(err)
				}
			}
			if len(told) == 1 && (!errors.Is(told[0], ErrSetup) || !strings.Contains(told[0].Error(), "DYNAMODB_ENDPOINT is "+server.URL+", which has stopped answering")) {
				t.Errorf("got %v", told[0])
			}
		})
	}
}

// A sender that was killed in the middle of a request says nothing about the
// endpoint.
func TestASenderThatIsGoneIsNoFailureOfTheEndpoint(t *testing.T) {
	u := &upstream{lost: func(err error) { t.Error(err) }}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range lostAfter {
		u.unanswered(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodPost, "/", nil), context.Canceled)
	}
}

// Only what was made is told as left, and all of it in one line.
func TestTablesThatWereLeftAreTold(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + listener.Addr().String()
	listener.Close()
	s := &stage{options: Options{Endpoint: nobody}, client: newClient(nobody), tables: tables{locks: "a-locks", orders: "b-orders"}}
	if err := s.dropTables(t.Context()); err != nil {
		t.Errorf("nothing was made: %v", err)
	}
	s.made = []string{"a-locks"}
	if err := s.dropTables(t.Context()); err == nil || !strings.Contains(err.Error(), "left at "+nobody) || !strings.Contains(err.Error(), "a-locks (dial tcp") || strings.Contains(err.Error(), "b-orders") {
		t.Errorf("got %v", err)
	}
}

// The endpoint dies as soon as the tables are made.
func TestAScenarioWhoseEndpointDiesHasNoVerdict(t *testing.T) {
	m := &mortal{}
	memory := locktest.New()
	m.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".PutItem") {
			m.dead.Store(true)
			panic(http.ErrAbortHandler)
		}
		memory.ServeHTTP(w, r)
	})
	server := httptest.NewServer(m)
	defer server.Close()
	var out strings.Builder
	idle := map[string]string{functions.CacheRefresh.Name: "exec sleep 60\n"} // it places nothing, so it may be the first to be started
	_, err := Run(t.Context(), Options{Functions: functionsOf(t, idle), Listen: "127.0.0.1:0", Endpoint: server.URL, Out: &out})
	if !errors.Is(err, ErrSetup) || strings.Count(err.Error(), "stopped answering") != 1 || strings.Count(err.Error(), "left at") != 1 {
		t.Errorf("got %v", err)
	}
	if strings.Contains(out.String(), "verdict") {
		t.Errorf("a verdict without a table:\n%s", &out)
	}
}

// functionsOf is a folder with a script for each job; one that is not named does
// nothing.
func functionsOf(t *testing.T, scripts map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for _, spec := range functions.Jobs() {
		path := folder + "/" + spec.Name
		if err := errors.Join(os.Mkdir(path, 0o755), os.WriteFile(path+"/bootstrap", []byte("#!/bin/sh\n"+scripts[spec.Name]), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}
