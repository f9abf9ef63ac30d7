package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/solotick/solotick/functions"
)

func TestBadInput(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	built := functionsFolder(t, "#!/bin/sh\necho 'order-sweeper: no table' >&2\nexit 1\n", 0o755)
	noExec := functionsFolder(t, "hello", 0o644)
	silent := functionsFolder(t, "#!/bin/sh\nexit 3\n", 0o755)
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	secure := strings.Replace(web.URL, "http:", "https:", 1)
	play := []string{"up", "--scenario", "--functions", built}
	tests := map[string]struct {
		args     []string
		endpoint string
		want     []string
	}{
		"nothing":           {nil, "", []string{"usage: solotick up"}},
		"unknown command":   {[]string{"status"}, "", []string{`"status"`, "solotick help"}},
		"no scenario":       {[]string{"up"}, "", []string{"--scenario"}},
		"unknown flag":      {[]string{"up", "--fast"}, "", []string{"-fast", "solotick help"}},
		"argument":          {[]string{"up", "--scenario", "now"}, "", []string{`"now"`, "flags only"}},
		"missing bootstrap": {[]string{"up", "--scenario", "--functions", "nowhere"}, "", []string{"nowhere/order-sweeper/bootstrap", "make functions-local", "--functions"}},
		"not executable":    {[]string{"up", "--scenario", "--functions", noExec}, "", []string{noExec, "chmod"}},
		"does not start":    {[]string{"up", "--scenario", "--functions", built}, "", []string{"does not start"}},
		"not loopback":      {[]string{"up", "--scenario", "--functions", built, "--listen", "0.0.0.0:0"}, "", []string{`"0.0.0.0:0"`, "127.0.0.1:0"}},
		"port taken":        {[]string{"up", "--scenario", "--functions", built, "--listen", taken.Addr().String()}, "", []string{taken.Addr().String(), "--listen", "another port"}},
		"logs nowhere":      {[]string{"up", "--scenario", "--functions", built, "--keep-logs", "/dev/null/logs"}, "", []string{"--keep-logs", "/dev/null"}},
		"silent":            {[]string{"up", "--scenario", "--functions", silent}, "", []string{"order-sweeper, " + silent + "/order-sweeper/bootstrap", "exit status 3, and it said nothing", "make functions-local"}},
		"file":              {[]string{"up", "--scenario", "--functions", "/dev/null"}, "", []string{"/dev/null", "make functions-local", "--functions"}},
		"help, extra":       {[]string{"help", "extra"}, "", []string{`"extra"`, "solotick help"}},
		"version, extra":    {[]string{"--version", "extra"}, "", []string{`"extra"`, "solotick help"}},
		"no DynamoDB":       {play, web.URL, []string{"DYNAMODB_ENDPOINT is " + web.URL, "status 404", "expected the URL of a DynamoDB", "unset"}},
		"no TLS":            {play, secure, []string{"DYNAMODB_ENDPOINT is " + secure, "HTTP response to HTTPS client", "expected the URL of a DynamoDB", "unset"}},
		"password":          {play, "http://user:secret@127.0.0.1:8000", []string{"DYNAMODB_ENDPOINT", "user name or a password", "unset"}},
		"password, no URL":  {play, "user:secret@127.0.0.1:8000", []string{"DYNAMODB_ENDPOINT", "user name or a password", "unset"}},
		"no URL":            {[]string{"up", "--scenario", "--functions", built}, "localhost:8000", []string{`DYNAMODB_ENDPOINT is "localhost:8000"`, "http://127.0.0.1:8000"}},
		"unreachable":       {[]string{"up", "--scenario", "--functions", built}, "http://127.0.0.1:1", []string{"DYNAMODB_ENDPOINT is http://127.0.0.1:1", "unset"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			getenv := func(string) string { return test.endpoint }
			if code := run(t.Context(), test.args, getenv, &stdout, &stderr); code != exitCannot {
				t.Errorf("exit code %d, expected %d", code, exitCannot)
			}
			for _, want := range test.want {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("%q is missing in: %s", want, &stderr)
				}
			}
			if lines := strings.Count(stderr.String(), "\n"); name != "nothing" && lines != 1 || strings.Contains(stderr.String(), "secret") || strings.Contains(stderr.String(), "left at") {
				t.Errorf("expected one line, without a password and without tables that were never made: %s", &stderr)
			}
			if name == "does not start" && !strings.Contains(stdout.String(), "says: order-sweeper: no table") {
				t.Errorf("the function's own words are missing in:\n%s", &stdout)
			}
		})
	}
}

// functionsFolder has a bootstrap for order-sweeper, and for the other jobs one
// that never gets as far as asking for work.
func functionsFolder(t *testing.T, bootstrap string, mode os.FileMode) string {
	t.Helper()
	folder := t.TempDir()
	for _, spec := range functions.Jobs() {
		content, mode := bootstrap, mode
		if spec.Name != functions.OrderSweeper.Name {
			content, mode = "#!/bin/sh\nexec sleep 60\n", 0o755
		}
		path := filepath.Join(folder, spec.Name)
		if err := errors.Join(os.MkdirAll(path, 0o755), os.WriteFile(filepath.Join(path, "bootstrap"), []byte(content), mode)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"up", "--help"}} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), args, func(string) string { return "" }, &stdout, &stderr)
		if code != exitOK || !strings.HasPrefix(stdout.String(), "solotick runs") || stderr.Len() > 0 {
			t.Errorf("%v: %d, %q", args, code, &stderr)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, flag := range []string{"version", "-version", "--version"} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{flag}, func(string) string { return "" }, &stdout, &stderr)
		if code != exitOK || stdout.String() != "solotick "+version(debug.ReadBuildInfo())+"\n" || stderr.Len() > 0 {
			t.Errorf("%s: %d, %q, %q", flag, code, &stdout, &stderr)
		}
	}
	for module, want := range map[string]string{"": "devel", "(devel)": "devel", "v1.2.3": "v1.2.3"} {
		if got := version(&debug.BuildInfo{Main: debug.Module{Version: module}}, true); got != want {
			t.Errorf("%q: got %q, expected %q", module, got, want)
		}
	}
	if got := version(nil, false); got != "devel" {
		t.Errorf("without build information: %q", got)
	}
}

// fullAfter takes so many writes and then one error; any further one succeeds.
type fullAfter int

var errFull = errors.New("no space left on device")

func (f *fullAfter) Write(p []byte) (int, error) {
	if *f--; *f == -1 {
		return 0, errFull
	}
	return len(p), nil
}

func TestOutputThatIsLostIsNoSuccess(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--version"}, {"up", "--help"}} {
		var stderr bytes.Buffer
		code := run(t.Context(), args, func(string) string { return "" }, new(fullAfter), &stderr)
		if code != exitCannot || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), errFull.Error()) {
			t.Errorf("%v: %d, %q", args, code, &stderr)
		}
	}
	full := fullAfter(1)
	out := &output{to: &full}
	for i, want := range []error{nil, errFull, errFull} {
		if _, err := out.Write([]byte("x")); !errors.Is(err, want) {
			t.Errorf("write %d: %v, expected %v", i, err, want)
		}
	}
	if !errors.Is(out.failure(), errFull) {
		t.Errorf("the first error is forgotten: %v", out.failure())
	}
}

func TestAnInterruptionHasItsOwnExitCode(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"up", "--scenario", "--functions", functionsFolder(t, "#!/bin/sh\n", 0o755)}, func(string) string { return "" }, &stdout, &stderr)
	if code != exitInterrupt || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("%d, %q", code, &stderr)
	}
}
