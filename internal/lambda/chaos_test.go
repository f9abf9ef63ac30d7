package lambda_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/solotick/solotick/internal/lambda"
)

// TestChaos kills, freezes and thaws at random while events of all sorts come
// in, and then accounts for every one of them.
func TestChaos(t *testing.T) {
	t.Parallel()
	seed := time.Now().UnixNano()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	r := newRig(t, lambda.Options{Speed: 6000})
	r.create(retries(2), func(f *lambda.Function) { f.Timeout, f.MaxEnvironments = 100*time.Millisecond, 4 })

	accepted := map[string]bool{}
	var direct sync.WaitGroup
	for end := time.Now().Add(800 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Duration(random.IntN(4)) * time.Millisecond) {
		c := []command{
			{},
			{Do: "sleep", Millis: random.IntN(30)},
			{Do: "fail times", Number: random.IntN(4)},
			{Do: "panic"},
			{Do: "exit"},
			{Do: "print", Number: 50},
			{Do: "sleep", Millis: 60_000},
		}[random.IntN(7)]
		switch environments := r.Environments("f"); random.IntN(6) {
		case 0:
			for _, id := range r.send(c, 1+random.IntN(2)) {
				accepted[id] = true
			}
		case 1:
			direct.Go(func() { r.Invoke(t.Context(), "f", mustJSON(c)) })
		default:
			if len(environments) == 0 {
				continue
			}
			act := []func(string) error{r.Kill, r.Freeze, r.Thaw, r.Thaw}[random.IntN(4)]
			_ = act(environments[random.IntN(len(environments))].ID) // a wrong state is no harm
		}
	}
	direct.Wait()
	for _, e := range r.Environments("f") {
		_ = r.Thaw(e.ID) // an idle one that stays frozen would keep its place
	}
	r.idle()

	started, ended, over := map[string]int{}, map[string]int{}, map[string]bool{}
	running := map[string]string{} // by environment
	for _, event := range r.all() {
		switch event.Kind {
		case lambda.EventInvocation:
			started[event.RequestID]++
			if other := running[event.Environment]; other != "" {
				t.Errorf("%s was given %s while it ran %s", event.Environment, event.RequestID, other)
			}
			running[event.Environment] = event.RequestID
			if accepted[event.RequestID] && event.Attempt > 3 {
				t.Errorf("attempt %d of %s", event.Attempt, event.RequestID)
			}
		case lambda.EventEnded:
			ended[event.RequestID]++
			running[event.Environment] = ""
			if event.Result.FunctionError == "" {
				over[event.RequestID] = true
			}
		case lambda.EventDeadLetter:
			if over[event.RequestID] {
				t.Errorf("%s succeeded and is a dead letter", event.RequestID)
			}
			over[event.RequestID] = true
		default:
		}
	}
	for id, n := range started {
		if ended[id] < n {
			t.Errorf("%s started %d times and ended %d times", id, n, ended[id])
		}
	}
	for id := range accepted {
		if !over[id] {
			t.Errorf("event %s was lost", id)
		}
	}
	if len(accepted) == 0 {
		t.Error("nothing happened")
	}
}

// TestAnEnvironmentOutlivesTheThreadThatAskedForIt guards the one thread that
// forks: on Linux a child ends with the thread that started it.
func TestAnEnvironmentOutlivesTheThreadThatAskedForIt(t *testing.T) {
	r := newRig(t, lambda.Options{})
	r.create()
	var pid int
	var caller sync.WaitGroup
	caller.Go(func() {
		runtime.LockOSThread() // and no unlock: the thread ends with the goroutine
		result, err := r.Invoke(t.Context(), "f", nil)
		if err != nil || result.FunctionError != "" {
			t.Errorf("%+v, %v", result, err)
		}
	})
	caller.Wait()
	pid = r.Environments("f")[0].PID
	time.Sleep(50 * time.Millisecond)
	if again := r.ask(command{}).PID; again != pid {
		t.Errorf("process %d, expected %d to live on", again, pid)
	}
}
