//go:build integration

package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/solotick/solotick/functions"
)

// Lambda may initialise a function without ever invoking it, and more than once:
// it starts environments ahead of time, and starts one again whose init was slow.
// All functions, as they are built for Lambda, get to where they ask for an
// invocation without a request to anybody.
func TestInitWithoutAnInvocationLeavesNoTrace(t *testing.T) {
	// Not parallel: a build takes all processors from tests that hold short leases.
	dir := t.TempDir()
	// The flags of the Makefile, so that what it builds is compiled once.
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags=-s -w -buildid=", "-o", dir+"/", "../functions/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built, err := os.ReadDir(dir)
	if err != nil || len(built) < len(functions.Jobs()) {
		t.Fatalf("%d functions of %d jobs, %v", len(built), len(functions.Jobs()), err)
	}
	for _, function := range built {
		t.Run(function.Name(), func(t *testing.T) {
			var requests atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.WriteHeader(http.StatusInternalServerError)
			}))
			defer server.Close()
			for i := range 2 {
				if err := initialise(t, filepath.Join(dir, function.Name()), map[string]string{
					"AWS_LAMBDA_FUNCTION_NAME": function.Name(), "AWS_LAMBDA_LOG_STREAM_NAME": fmt.Sprintf("stream-%d", i),
					"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_ENDPOINT_URL": server.URL,
					"SOLOTICK_LOCK_TABLE": "locks", "SOLOTICK_ORDERS_TABLE": "orders", "SOLOTICK_REPORTS_TABLE": "reports",
					"SOLOTICK_CACHE_SOURCE": server.URL, "SOLOTICK_CACHE_TARGET": server.URL,
				}); err != nil {
					t.Error(err)
				}
			}
			if n := requests.Load(); n != 0 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// initialise starts a function, lets it wait for an invocation for a while and
// kills it.
func initialise(t *testing.T, bootstrap string, env map[string]string) error {
	t.Helper()
	ready := make(chan struct{}, 1)
	runtime := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/invocation/next") {
			ready <- struct{}{}
			<-r.Context().Done()
		}
	}))
	defer runtime.Close()
	var out strings.Builder
	cmd := exec.CommandContext(t.Context(), bootstrap)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(runtime.URL, "http://")}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	patience := time.NewTimer(20 * time.Second)
	defer patience.Stop()
	select {
	case <-ready:
		time.Sleep(200 * time.Millisecond) // for what is sent beside the handler
	case err := <-ended:
		return fmt.Errorf("the function ended in its init: %w\n%s", err, out.String())
	case <-patience.C:
		_ = cmd.Process.Kill()
		<-ended
		return fmt.Errorf("the function asked for no invocation:\n%s", out.String())
	}
	if err := cmd.Process.Kill(); err != nil {
		return err
	}
	<-ended
	return nil
}
