//go:build bench

package bench

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// row is one line of the table. A goal holds when all its rows do.
type row struct {
	goal     float64 // as numbered in the table; 4.5 is 4b
	what     string
	want     string
	measured string
	verdict  verdict
}

type verdict int

const (
	holds verdict = iota
	missed
	control // a line to compare with, without a goal
)

// check is the verdict on a goal.
func check(ok bool) verdict {
	if ok {
		return holds
	}
	return missed
}

var table struct {
	sync.Mutex
	rows []row
}

// report puts a line into the table, and shows at once that something happens:
// the whole takes minutes.
func report(t *testing.T, r row) {
	t.Helper()
	table.Lock()
	defer table.Unlock()
	table.rows = append(table.rows, r)
	fmt.Fprintf(os.Stderr, "%s %s: %s\n", r.number(), strings.TrimSpace(r.what), r.measured)
}

// number is a goal's number as people write it.
func (r row) number() string {
	if r.goal == 4.5 {
		return "4b"
	}
	return fmt.Sprint(r.goal)
}

// printTable writes the table, and how many goals hold on its last line.
func printTable(rows []row) {
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.goal, b.goal) })
	rows = append([]row{{what: "what", want: "goal", measured: "measured"}}, rows...)
	var what, want, measured int
	for _, r := range rows {
		what, want, measured = max(what, len(r.what)), max(want, len([]rune(r.want))), max(measured, len([]rune(r.measured)))
	}
	failed, goals := map[float64]bool{}, map[float64]bool{}
	for i, r := range rows {
		number, says := r.number(), map[verdict]string{holds: "holds", missed: "MISSED", control: ""}[r.verdict]
		if i == 0 {
			number, says = "#", ""
		} else {
			goals[r.goal] = true
			failed[r.goal] = failed[r.goal] || r.verdict == missed
		}
		line := fmt.Sprintf("%-3s %-*s  %-*s  %-*s  %s", number, what, r.what, want, r.want, measured, r.measured, says)
		fmt.Println(strings.TrimRight(line, " "))
	}
	hold := 0
	for goal := range goals {
		if !failed[goal] {
			hold++
		}
	}
	fmt.Printf("%d of %d goals hold\n", hold, len(goals))
}

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random arrivals, deaths and answer times")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	fmt.Printf("seed %d\n", *seed)
	printTable(table.rows)
	os.Exit(code)
}
