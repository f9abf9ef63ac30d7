package scenario

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/solotick/solotick/lockkit/fence"
	"github.com/solotick/solotick/lockkit/singleton"
)

// goodPuts is the act of cache-refresh in small: T1 is frozen with v1, and T2 has
// put v2 when v1 comes.
func goodPuts() cachedEvidence {
	run := func(name string, n int, token int64, outcome singleton.Outcome) delivery {
		return delivery{job: "job", tick: tick(n), name: name, request: name, attempt: 1, token: token, started: at(n), ended: at(10 + n), run: &logLine{Outcome: string(outcome)}}
	}
	return cachedEvidence{
		evidence: evidence{
			job: "job", lockTick: tick(2), deliveries: []delivery{run("T1", 1, 101, singleton.Lost), run("T2", 2, 102, singleton.Completed)},
			wanted: []expectation{
				{what: "the frozen run", deliveries: []attempt{{"T1", 1}}, allowed: [][]string{{"lost"}}},
				{what: "the successor", deliveries: []attempt{{"T2", 1}}, allowed: [][]string{{"completed"}}},
			},
		},
		puts:      []put{{At: at(5), Token: 102, Document: `"v2"`}, {At: at(8), Token: 101, Document: `"v1"`, Refused: true}},
		published: `"v2"`,
	}
}

func TestGoodPutsHaveNoFault(t *testing.T) {
	if faults := goodPuts().judge(); len(faults) != 0 {
		t.Errorf("%q", faults)
	}
	var out bytes.Buffer
	goodPuts().summary(newTimeline(&out))
	for _, want := range []string{"stale puts refused by the target: 1\n", `document "v1" by token 101 (T1) at`, `the target took: "v2"; the source has "v2"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &out)
		}
	}
}

func TestPlantedFaultsOfPutsAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(e *cachedEvidence)
		want  string
	}{
		"taken in place of refused": {func(e *cachedEvidence) { e.puts[1].Refused = false }, `document "v1" was put by token 101 (T1) after token 102 (T2) had put "v2": a stale document over a newer one`},
		"the old one stays":         {func(e *cachedEvidence) { e.puts[1].Refused = false }, `the target has document "v1", and the source has "v2"`},
		"nothing refused":           {func(e *cachedEvidence) { e.puts = e.puts[:1] }, "no stale put was refused"},
		"nothing taken":             {func(e *cachedEvidence) { e.puts = e.puts[1:] }, `the target has document (none)`},
		"a live run refused":        {func(e *cachedEvidence) { e.puts[1].Token = 102 }, `document "v1" of token 102 (T2) was refused, whose run was not lost`},
		"nobody's":                  {func(e *cachedEvidence) { e.puts[0].Token = 777 }, `document "v2" was put by token 777, which no run had`},
		"unchanged and put":         {func(e *cachedEvidence) { e.puts = append(e.puts, e.puts[0]) }, `document "v2" was put again`},
	} {
		e := goodPuts()
		test.plant(&e)
		if text := strings.Join(e.judge(), "\n"); !strings.Contains(text, test.want) {
			t.Errorf("%s: %q is missing in:\n%s", name, test.want, text)
		}
	}
}

// send puts a document at a target, and returns the status.
func send(ctx context.Context, t *testing.T, s *services, document string, token int64) int {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, s.target, strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("ETag", document)
	fence.SetToken(r, token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// A document that is kept at the door is judged when it comes in.
func TestTheTargetKeepsADocumentOut(t *testing.T) {
	for name, careless := range map[string]bool{"guarded": false, "careless": true} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			s, err := openServices(t.Context(), careless, newTimeline(&out))
			if err != nil {
				t.Fatal(err)
			}
			letIn := s.keepOut(document(1))
			late := make(chan int)
			go func() { late <- send(t.Context(), t, s, document(1), 7) }()
			if status := send(t.Context(), t, s, document(2), 8); status != http.StatusNoContent {
				t.Errorf("status %d", status)
			}
			if n := len(s.received()); n != 1 {
				t.Errorf("%d documents came in, expected one", n)
			}
			letIn()
			letIn()
			want := map[bool]int{false: http.StatusPreconditionFailed, true: http.StatusNoContent}[careless]
			if status := <-late; status != want {
				t.Errorf("the late one has status %d, expected %d", status, want)
			}
			puts := s.received()
			if len(puts) != 2 || puts[0].Document != document(2) || puts[0].Token != 8 || puts[1].Token != 7 || puts[1].Refused == careless {
				t.Errorf("%+v", puts)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if careless == strings.Contains(out.String(), `the target REFUSED (412) document "v1" of token 7`) {
				t.Errorf("the time line says\n%s", &out)
			}
		})
	}
}
