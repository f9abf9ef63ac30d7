package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/functions/orders"
	"github.com/solotick/solotick/lockkit/singleton"
	"github.com/solotick/solotick/lockkit/singleton/singletontest"
)

// The ticks of most tests, a day apart, and where the report of the first ends.
var (
	monday    = time.Date(2000, 1, 10, 1, 0, 0, 0, time.UTC)
	tuesday   = monday.Add(24 * time.Hour)
	mondayEnd = monday.Add(-orders.SettleTime)
)

// program is the reporter as main wires it, with pages of three orders.
func program(p *singletontest.Process) singleton.Work { return reporterOf(p).work }

func reporterOf(p *singletontest.Process) *reporter {
	return &reporter{
		orders:  byDay{client: p.Client(), table: "orders", pageSize: 3},
		reports: archive{client: p.Client(), table: "reports"},
		logger:  slog.New(slog.DiscardHandler),
	}
}

// before is a program that does something before a run reads its n-th page.
func before(n int, do func(p *singletontest.Process)) singletontest.Program {
	return func(p *singletontest.Process) singleton.Work {
		r := reporterOf(p)
		read := 0
		r.orders = told{r.orders, func() {
			if read++; read == n {
				do(p)
			}
		}}
		return r.work
	}
}

type told struct {
	pages
	tell func()
}

func (p told) after(ctx context.Context, from place, until time.Time) (page, error) {
	p.tell()
	return p.pages.after(ctx, from, until)
}

// sold makes the tables and puts orders into one; each has another total.
func sold(placedAt ...time.Time) singletontest.Option {
	return singletontest.Setup(func(w *singletontest.World) {
		if err := orders.CreateTable(w.T.Context(), w.Client(), "orders"); err != nil {
			w.T.Fatal(err)
		}
		w.CreateTable("reports", orders.AttrReport, "")
		for i, when := range placedAt {
			w.Put("orders", orders.New(fmt.Sprintf("order-%02d", i), when, int64(1)<<i))
		}
	})
}

// total is that of the orders with these numbers: no two sums are equal.
func total(numbers ...int) (sum int64) {
	for _, i := range numbers {
		sum += int64(1) << i
	}
	return sum
}

// reports are those in the table, oldest first.
func reports(w *singletontest.World) []orders.Report {
	w.T.Helper()
	out, err := w.Client().Scan(context.WithoutCancel(w.T.Context()), &dynamodb.ScanInput{TableName: aws.String("reports")})
	if err != nil {
		w.T.Fatal(err)
	}
	var list []orders.Report
	for _, item := range out.Items {
		r, err := orders.ReadReport(item)
		if err != nil {
			w.T.Fatal(err)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b orders.Report) int { return a.UpTo.Compare(b.UpTo) })
	return list
}

// queries counts the pages that were read so far.
func queries(w *singletontest.World) (n int) {
	for _, r := range w.Requests() {
		if r.Operation == "Query" {
			n++
		}
	}
	return n
}

// span is the part of a report that says what it is about.
type span struct {
	tick, after, upTo time.Time
	orders, total     int64
}

func spans(list []orders.Report) []span {
	var all []span
	for _, r := range list {
		all = append(all, span{r.Tick, r.After, r.UpTo, r.Orders, r.Total})
	}
	return all
}

func wantReports(w *singletontest.World, want ...span) {
	w.T.Helper()
	if got := spans(reports(w)); !slices.Equal(got, want) {
		w.T.Errorf("reports are\n%+v\nexpected\n%+v", got, want)
	}
}
