package lambda_test

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

// write makes a file. Tests that use it must not be parallel: a fork of
// another test could hold the file open for writing just when it is started.
func write(t *testing.T, content []byte, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bootstrap")
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// foreign is a header of an executable for a processor that this is not.
func foreign() []byte {
	header := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_AARCH64), Version: uint32(elf.EV_CURRENT), Ehsize: 64,
	}
	if runtime.GOARCH == "arm64" {
		header.Machine = uint16(elf.EM_X86_64)
	}
	b := make([]byte, binary.Size(header))
	if _, err := binary.Encode(b, binary.LittleEndian, header); err != nil {
		panic(err)
	}
	return b
}

func TestCreateRefusesWhatCannotWork(t *testing.T) {
	r := newRig(t, lambda.Options{})
	refused := map[string]func(*lambda.Function){
		`function "": invalid: Name`:     func(f *lambda.Function) { f.Name = "" },
		"1 to 64 letters":                func(f *lambda.Function) { f.Name = "a b" },
		"Timeout is -1s":                 func(f *lambda.Function) { f.Timeout = -time.Second },
		"Timeout is 16m0s":               func(f *lambda.Function) { f.Timeout = 16 * time.Minute },
		"MemoryMB is 64":                 func(f *lambda.Function) { f.MemoryMB = 64 },
		"MaxEnvironments is -1":          func(f *lambda.Function) { f.MaxEnvironments = -1 },
		"Retries is 3":                   func(f *lambda.Function) { f.Retries = 3 },
		"RetryDelays is empty":           func(f *lambda.Function) { f.Retries, f.RetryDelays = 1, []time.Duration{} },
		"RetryDelays has -1s":            func(f *lambda.Function) { f.RetryDelays = []time.Duration{-time.Second} },
		"MaxEventAge is 1s":              func(f *lambda.Function) { f.MaxEventAge = time.Second },
		"AWS_REGION is reserved":         func(f *lambda.Function) { f.Env = map[string]string{"AWS_REGION": "x"} },
		`environment variable "A=B"`:     func(f *lambda.Function) { f.Env = map[string]string{"A=B": "x"} },
		"NUL byte":                       func(f *lambda.Function) { f.Env = map[string]string{"AB": "\x00"} },
		"have 5002 bytes":                func(f *lambda.Function) { f.Env = map[string]string{"AB": strings.Repeat("x", 5000)} },
		"path of the bootstrap is empty": func(f *lambda.Function) { f.Bootstrap = "" },
		"does not exist":                 func(f *lambda.Function) { f.Bootstrap = filepath.Join(t.TempDir(), "bootstrap") },
		"is a directory":                 func(f *lambda.Function) { f.Bootstrap = t.TempDir() },
		"is not a file":                  func(f *lambda.Function) { f.Bootstrap = os.DevNull },
		"run `chmod +x":                  func(f *lambda.Function) { f.Bootstrap = write(t, []byte("#!/bin/sh\n"), 0o644) },
	}
	if runtime.GOOS == "linux" { // elsewhere the start tells
		refused["is no Linux executable"] = func(f *lambda.Function) { f.Bootstrap = write(t, []byte("PK\x03\x04"), 0o755) }
		refused["is a damaged executable"] = func(f *lambda.Function) { f.Bootstrap = write(t, foreign()[:20], 0o755) }
		refused["build it with GOOS=linux GOARCH="+runtime.GOARCH] = func(f *lambda.Function) { f.Bootstrap = write(t, foreign(), 0o755) }
	}
	for says, change := range refused {
		f := testFunction(t)
		change(&f)
		if err := r.Create(f); !errors.Is(err, lambda.ErrInvalid) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, expected %q in it", err, says)
		}
	}
	r.create()
	if err := r.Create(testFunction(t)); !errors.Is(err, lambda.ErrInvalid) || !strings.Contains(err.Error(), "choose another Name") {
		t.Errorf("second create: %v", err)
	}
}

func TestABootstrapThatChangedSinceFailsTheInvocation(t *testing.T) {
	for says, replace := range map[string]func(path string) error{
		"does not exist": os.Remove,
		"run `chmod +x":  func(path string) error { return os.Chmod(path, 0o644) },
		"exec format":    func(path string) error { return os.WriteFile(path, foreign(), 0o755) },
		"interpreter":    func(path string) error { return os.WriteFile(path, []byte("#!/no/such/shell\n"), 0o755) },
	} {
		r := newRig(t, lambda.Options{})
		path := write(t, []byte("#!/bin/sh\n"), 0o755)
		r.create(func(f *lambda.Function) { f.Bootstrap = path })
		if err := replace(path); err != nil {
			t.Fatal(err)
		}
		result := r.do(command{})
		if result.FunctionError != lambda.ErrorEntrypoint || !strings.Contains(result.ErrorMessage, says) {
			t.Errorf("result %+v, expected %q in it", result, says)
		}
		if left := r.Environments("f"); len(left) != 0 {
			t.Errorf("environments %+v are left", left)
		}
	}
}

func TestAScriptIsABootstrap(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) {
		f.Bootstrap = write(t, []byte("#!/bin/sh\necho from a script\nexit 4\n"), 0o755)
	})
	if result := r.do(command{}); !strings.HasSuffix(result.ErrorMessage, "exit status 4") {
		t.Errorf("result %+v", result)
	}
	r.idle()
	if lines := r.lines(); len(lines) != 1 || lines[0] != "from a script" {
		t.Errorf("lines %q", lines)
	}
}

func TestEnvForAddsToOneEnvironment(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create(func(f *lambda.Function) {
		f.EnvFor = func(environment string) map[string]string {
			if environment == "f-2" {
				return map[string]string{"_HANDLER": "mine"}
			}
			return map[string]string{"ENDPOINT": "http://127.0.0.1/" + environment}
		}
	})
	if env := strings.Join(r.ask(command{Do: "describe"}).Env, " "); !strings.Contains(env, "ENDPOINT=http://127.0.0.1/f-1") {
		t.Errorf("environment %s", env)
	}
	r.do(command{Do: "exit", Number: 1})
	if result := r.do(command{}); !strings.Contains(result.ErrorMessage, "_HANDLER is reserved") {
		t.Errorf("result %+v", result)
	}
}
