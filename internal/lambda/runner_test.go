package lambda_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

// orphans are the processes of the runner that gets killed.
type orphans struct{ Running, Frozen, Idle int }

// runRunner is the runner: it starts three environments, tells their ids and
// waits to be killed.
func runRunner() {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	s := lambda.New(lambda.Options{})
	if err := s.Create(lambda.Function{Name: "f", Bootstrap: self, Env: map[string]string{role: "function"}, Timeout: time.Minute}); err != nil {
		panic(err)
	}
	if _, err := s.InvokeAsync("f", mustJSON(command{Do: "sleep", Millis: 60_000}), 2); err != nil {
		panic(err)
	}
	var o orphans
	for o.Running == 0 || o.Frozen == 0 {
		for i, e := range s.Environments("f") {
			switch {
			case e.State != lambda.StateBusy:
			case i == 0:
				o.Running = e.PID
			case s.Freeze(e.ID) == nil:
				o.Frozen = e.PID
			}
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := s.Invoke(context.Background(), "f", nil); err != nil {
		panic(err)
	}
	for _, e := range s.Environments("f") {
		if e.State == lambda.StateIdle {
			o.Idle = e.PID
		}
	}
	fmt.Println(string(mustJSON(o)))
	select {}
}

func TestFunctionsEndWithAKilledRunner(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runner := exec.CommandContext(t.Context(), self)
	runner.Env = append(os.Environ(), role+"=runner")
	runner.Stderr = os.Stderr
	output, err := runner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Start(); err != nil {
		t.Fatal(err)
	}
	var o orphans
	err = json.NewDecoder(output).Decode(&o)
	if err == nil {
		stopped(t, o.Frozen)
		stopped(t, o.Idle)
		if state := procState(o.Running); state == "" || state == "T" {
			t.Errorf("the running process is in state %q", state)
		}
	}
	runner.Process.Kill()
	runner.Wait()
	if err != nil {
		t.Fatal("the runner said nothing:", err)
	}
	killed := time.Now()
	if runtime.GOOS != "linux" { // there it ends with its invocation
		syscall.Kill(o.Running, syscall.SIGKILL)
	}
	for name, pid := range map[string]int{"running": o.Running, "frozen": o.Frozen, "idle": o.Idle} {
		eventually(t, "the end of the "+name+" process", func() bool { return procState(pid) == "" })
	}
	if took := time.Since(killed); took > 3*time.Second {
		t.Errorf("the processes ended %v after their runner", took)
	}
}
