package singletontest

import (
	"fmt"
	"strings"
)

// Report says what CrashEverywhere tried.
type Report struct {
	Job      string
	Requests []Request // what the deliveries send that nothing disturbs
	Points   []Point   // each world, in the order in which they were tried
}

// Point is one disturbed request.
type Point struct {
	Number      int // which of the requests, from 1
	Request     Request
	Disturbance string
	Story       []string // what each delivery said, in the order of their ends
	Err         error    // what went wrong; nil: each effect is there exactly once

	kind disturbance
}

// Wrong returns the points that went wrong.
func (r Report) Wrong() []Point {
	var wrong []Point
	for _, p := range r.Points {
		if p.Err != nil {
			wrong = append(wrong, p)
		}
	}
	return wrong
}

// String is a table: a line for each disturbance, with the number of requests that
// it was tried at and the number of those worlds that ended right.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d requests undisturbed:", r.Job, len(r.Requests))
	for i, q := range r.Requests {
		fmt.Fprintf(&b, " %d %s", i+1, q)
		if i < len(r.Requests)-1 {
			b.WriteByte(',')
		}
	}
	fmt.Fprintf(&b, "\n%-62s %6s %6s\n", "at each request", "points", "right")
	points, right := 0, 0
	line := func(name string, points, right int) { fmt.Fprintf(&b, "%-62s %6d %6d\n", name, points, right) }
	for _, d := range disturbances() {
		tried, ok := 0, 0
		for _, p := range r.Points {
			if p.kind != d {
				continue
			}
			tried++
			if p.Err == nil {
				ok++
			}
		}
		line(d.name, tried, ok)
		points, right = points+tried, right+ok
	}
	line("all", points, right)
	return b.String()
}

// String tells the point's story.
func (p Point) String() string {
	var b strings.Builder
	if p.Number == 0 {
		b.WriteString(p.Disturbance)
	} else {
		fmt.Fprintf(&b, "request %d, %s: %s", p.Number, p.Request, p.Disturbance)
	}
	if p.Err == nil {
		b.WriteString(": right")
	} else {
		fmt.Fprintf(&b, ": %s", strings.ReplaceAll(p.Err.Error(), "\n", "; "))
	}
	for _, told := range p.Story {
		b.WriteString("\n\t" + told)
	}
	return b.String()
}
