package functions_test

import (
	"os"
	"testing"

	"github.com/solotick/solotick/functions"
)

func TestEveryJobIsValidAndHasAFunction(t *testing.T) {
	seen := map[string]bool{}
	for _, spec := range functions.Jobs() {
		if err := spec.Validate(); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		if spec.Schedule == "" || spec.Timeout == 0 || spec.ExpectedInterval == 0 {
			t.Errorf("%s: schedule %q, timeout %v, expected interval %v: deploying needs all three", spec.Name, spec.Schedule, spec.Timeout, spec.ExpectedInterval)
		}
		if _, err := os.Stat(spec.Name + "/main.go"); err != nil {
			t.Errorf("%s: the folder of a job has the job's name: %v", spec.Name, err)
		}
		if seen[spec.Name] {
			t.Errorf("%s is declared twice: two jobs with one name share a lock", spec.Name)
		}
		seen[spec.Name] = true
	}
}

func TestJobsReturnsACopy(t *testing.T) {
	functions.Jobs()[0].Name = "changed"
	if got := functions.Jobs()[0].Name; got != functions.OrderSweeper.Name {
		t.Errorf("a caller's change shows in the next call: %q", got)
	}
}
