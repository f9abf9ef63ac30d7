// Package functions declares the numbers of every job of this application, once.
// The function of a job runs by them, the stack deploys by them and the local
// runner starts it by them. The jobs themselves are in the folders beside this
// file, one function each.
package functions

import (
	"time"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

// OrderSweeper closes the orders that nobody has confirmed in time.
//
// A crashed run holds the lock for one lease more, so the lease is what a crash
// costs; 30 s outlasts the pauses of a small function. Five minutes leave time
// for several hundred orders beside a takeover. A tick older than an hour is
// not worth a run: the orders that it would have closed are closed by a newer
// one, which takes all that are due.
var OrderSweeper = job.Spec{
	Name:             "order-sweeper",
	Schedule:         "rate(5 minutes)",
	Lease:            30 * time.Second,
	Timeout:          5 * time.Minute,
	MemoryMB:         256,
	Retries:          2,
	MaxAge:           time.Hour,
	ExpectedInterval: 15 * time.Minute,
}

// NightlyReport sums up the orders that were placed since the last report.
//
// The time zone is that of the people who read it in the morning. The retries
// bring a run that was cut off to its end in the same night, a page costing it no
// more than the page; the age lets the second of them through after a long night.
// A report that has been broken for a week starts again with the last seven days,
// and its result says which time nobody will report on.
var NightlyReport = job.Spec{
	Name:             "nightly-report",
	Schedule:         "cron(0 2 * * ? *)",
	TimeZone:         "Europe/Berlin",
	Lease:            30 * time.Second,
	Timeout:          5 * time.Minute,
	MemoryMB:         256,
	Retries:          2,
	MaxAge:           6 * time.Hour,
	ExpectedInterval: 25 * time.Hour, // the longest day of the year
	CatchUp:          7 * 24 * time.Hour,
}

// CacheRefresh brings a document that is served from elsewhere up to date.
//
// Nothing is lost with a run but time, so the lease is short and a failed run is
// left to the next tick, which comes before a second retry would. A minute is
// enough for three requests that all take their time beside a takeover.
var CacheRefresh = job.Spec{
	Name:             "cache-refresh",
	Schedule:         "rate(5 minutes)",
	Lease:            10 * time.Second,
	Timeout:          time.Minute,
	MemoryMB:         128,
	Retries:          1,
	MaxAge:           10 * time.Minute,
	ExpectedInterval: 20 * time.Minute,
}

// Jobs returns the numbers of all jobs. The caller owns the slice.
func Jobs() []job.Spec {
	return []job.Spec{OrderSweeper, NightlyReport, CacheRefresh}
}
