package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBadInput(t *testing.T) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	functions := functionsFolder(t, "#!/bin/sh\necho 'order-sweeper: no table' >&2\nexit 1\n", 0o755)
	noExec := functionsFolder(t, "hello", 0o644)
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
		"does not start":    {[]string{"up", "--scenario", "--functions", functions}, "", []string{"does not start"}},
		"not loopback":      {[]string{"up", "--scenario", "--functions", functions, "--listen", "0.0.0.0:0"}, "", []string{`"0.0.0.0:0"`, "127.0.0.1:0"}},
		"port taken":        {[]string{"up", "--scenario", "--functions", functions, "--listen", taken.Addr().String()}, "", []string{taken.Addr().String(), "--listen", "another port"}},
		"logs nowhere":      {[]string{"up", "--scenario", "--functions", functions, "--keep-logs", "/dev/null/logs"}, "", []string{"--keep-logs", "/dev/null"}},
		"no URL":            {[]string{"up", "--scenario", "--functions", functions}, "localhost:8000", []string{`DYNAMODB_ENDPOINT is "localhost:8000"`, "http://127.0.0.1:8000"}},
		"unreachable":       {[]string{"up", "--scenario", "--functions", functions}, "http://127.0.0.1:1", []string{"DYNAMODB_ENDPOINT is http://127.0.0.1:1", "unset"}},
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
			if name == "does not start" && !strings.Contains(stdout.String(), "says: order-sweeper: no table") {
				t.Errorf("the function's own words are missing in:\n%s", &stdout)
			}
		})
	}
}

func functionsFolder(t *testing.T, bootstrap string, mode os.FileMode) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "order-sweeper"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "order-sweeper", "bootstrap"), []byte(bootstrap), mode); err != nil {
		t.Fatal(err)
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

func TestAnInterruptionHasItsOwnExitCode(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"up", "--scenario", "--functions", functionsFolder(t, "#!/bin/sh\n", 0o755)}, func(string) string { return "" }, &stdout, &stderr)
	if code != exitInterrupt || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("%d, %q", code, &stderr)
	}
}
