package job_test

import (
	"strings"
	"testing"
	"time"

	"github.com/solotick/solotick/lockkit/singleton/job"
)

var good = job.Spec{
	Name: "nightly-report", Schedule: "cron(0 2 * * ? *)", TimeZone: "Europe/Berlin",
	Lease: 30 * time.Second, Timeout: 5 * time.Minute, MemoryMB: 256, Retries: 2,
	MaxAge: time.Hour, ExpectedInterval: 24 * time.Hour,
}

func TestValidateAcceptsWhatTheNumbersAllow(t *testing.T) {
	for name, change := range map[string]func(*job.Spec){
		"as it is":         func(*job.Spec) {},
		"only name, lease": func(s *job.Spec) { *s = job.Spec{Name: "x", Lease: time.Second} },
		"shortest": func(s *job.Spec) {
			// 1 s lease, 1 s margin, 2 s reserve, 1 s of work.
			s.Lease, s.Timeout = time.Second, 5*time.Second
		},
		"a day's lease without a timeout": func(s *job.Spec) { s.Lease, s.Timeout = 24*time.Hour, 0 },
		"named policy":                    func(s *job.Spec) { s.Policy = job.SkipWhenAlive },
		"skip at once":                    func(s *job.Spec) { s.Policy = job.SkipAtOnce },
		"wait": func(s *job.Spec) {
			// 30 s lease, 10 s margin, 2 s reserve, 4 min 18 s of work.
			s.Policy, s.WorkTime = job.Wait, 258*time.Second
		},
		"name of other letters":        func(s *job.Spec) { s.Name = "日本/ü#:." },
		"rate":                         func(s *job.Spec) { s.Schedule = "rate(1 minute)" },
		"at":                           func(s *job.Spec) { s.Schedule = "at(2026-12-01T02:00:00)" },
		"week days":                    func(s *job.Spec) { s.Schedule = "cron(0/15 8-18 ? * MON-FRI *)" },
		"last Friday":                  func(s *job.Spec) { s.Schedule = "cron(0 18 ? * 6L 2026-2030)" },
		"zone of three parts":          func(s *job.Spec) { s.TimeZone = "America/Argentina/Ushuaia" },
		"UTC":                          func(s *job.Spec) { s.TimeZone = "UTC" },
		"catch-up of one interval":     func(s *job.Spec) { s.CatchUp = s.ExpectedInterval },
		"catch-up without an interval": func(s *job.Spec) { s.CatchUp, s.ExpectedInterval = job.MinInterval, 0 },
		"longest cursor":               func(s *job.Spec) { s.MaxCursor = 4096 },
		"shortest cursor":              func(s *job.Spec) { s.MaxCursor = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := good
			change(&s)
			if err := s.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestValidateNamesTheNumberAndTheWayOut(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*job.Spec)
		words  []string
	}{
		"no name":              {func(s *job.Spec) { s.Name = "" }, []string{"Name is empty"}},
		"long name":            {func(s *job.Spec) { s.Name = strings.Repeat("é", 1022) }, []string{"2044", "2043"}},
		"broken name":          {func(s *job.Spec) { s.Name = "a\xff" }, []string{"UTF-8", `"a\xff"`}},
		"newline in the name":  {func(s *job.Spec) { s.Name = "a\nb" }, []string{"control character"}},
		"no lease":             {func(s *job.Spec) { s.Lease = 0 }, []string{"Lease is not set", "1s", "24h"}},
		"short lease":          {func(s *job.Spec) { s.Lease = 500 * time.Millisecond }, []string{"Lease is 500ms", "1s to 24h"}},
		"nanoseconds":          {func(s *job.Spec) { s.Lease = 30 }, []string{"Lease is 30ns"}},
		"long lease":           {func(s *job.Spec) { s.Lease = 24*time.Hour + 1 }, []string{"24h0m0.000000001s"}},
		"half a millisecond":   {func(s *job.Spec) { s.Lease = 1500500 * time.Microsecond }, []string{"1.5005s", "whole milliseconds"}},
		"negative margin":      {func(s *job.Spec) { s.ContendMargin = -1 }, []string{"ContendMargin is -1ns"}},
		"tiny reserve":         {func(s *job.Spec) { s.Reserve = 2 }, []string{"Reserve is 2ns", "100ms"}},
		"long timeout":         {func(s *job.Spec) { s.Timeout = time.Hour }, []string{"Timeout is 1h0m0s", "15m0s"}},
		"fraction of a second": {func(s *job.Spec) { s.Timeout = 90500 * time.Millisecond }, []string{"1m30.5s", "whole seconds"}},
		"timeout all eaten": {
			func(s *job.Spec) { s.Timeout = 42 * time.Second },
			[]string{"Lease 30s + ContendMargin 10s + Reserve 2s = 42s", "Timeout of 42s", "raise Timeout to 43s"},
		},
		"nothing left for work": {
			func(s *job.Spec) {
				s.Lease = 30100 * time.Millisecond
				s.Timeout = 43 * time.Second
				s.ContendMargin = 10 * time.Second
			},
			[]string{"42.1s", "less than 1s", "raise Timeout to 44s"},
		},
		"work time beyond the timeout": {
			func(s *job.Spec) { s.Policy, s.WorkTime = job.Wait, 258*time.Second+1 },
			[]string{"Lease 30s + ContendMargin 10s + Reserve 2s = 42s", "less than 4m18.000000001s", "raise Timeout to 5m1s"},
		},
		"little work time":         {func(s *job.Spec) { s.WorkTime = 1 }, []string{"WorkTime is 1ns", "1s to 15m0s"}},
		"lease longer than Lambda": {func(s *job.Spec) { s.Lease = time.Hour }, []string{"15m0s", "shorten the lease"}},
		"little memory":            {func(s *job.Spec) { s.MemoryMB = 64 }, []string{"MemoryMB is 64", "128 to 10240"}},
		"many retries":             {func(s *job.Spec) { s.Retries = 185 }, []string{"Retries is 185", "0 to 2"}},
		"short age":                {func(s *job.Spec) { s.MaxAge = time.Second }, []string{"MaxAge is 1s", "1m0s to 6h0m0s"}},
		"long age":                 {func(s *job.Spec) { s.MaxAge = 24 * time.Hour }, []string{"MaxAge is 24h0m0s"}},
		"short interval":           {func(s *job.Spec) { s.ExpectedInterval = time.Second }, []string{"ExpectedInterval is 1s"}},
		"short catch-up":           {func(s *job.Spec) { s.CatchUp = time.Second; s.ExpectedInterval = 0 }, []string{"CatchUp is 1s", "1m0s"}},
		"catch-up below interval":  {func(s *job.Spec) { s.CatchUp = time.Hour }, []string{"CatchUp is 1h0m0s", "24h0m0s", "gap"}},
		"negative catch-up":        {func(s *job.Spec) { s.CatchUp = -time.Hour }, []string{"CatchUp is -1h0m0s"}},
		"big cursor":               {func(s *job.Spec) { s.MaxCursor = 4097 }, []string{"MaxCursor is 4097", "512", "4096"}},
		"negative cursor":          {func(s *job.Spec) { s.MaxCursor = -1 }, []string{"MaxCursor is -1"}},
		"unknown policy":           {func(s *job.Spec) { s.Policy = "Queue" }, []string{`"Queue"`, `"skip_when_alive"`, `"skip_at_once"`, `"wait"`}},
		"unix cron":                {func(s *job.Spec) { s.Schedule = "cron(0 2 * * *)" }, []string{"five fields", "six"}},
		"bare cron":                {func(s *job.Spec) { s.Schedule = "0 2 * * ? *" }, []string{"does not read it"}},
		"both days":                {func(s *job.Spec) { s.Schedule = "cron(0 2 * * * *)" }, []string{`must be "?"`}},
		"rate of zero":             {func(s *job.Spec) { s.Schedule = "rate(0 minutes)" }, []string{"does not read it"}},
		"rate of seconds":          {func(s *job.Spec) { s.Schedule = "rate(30 seconds)" }, []string{"does not read it"}},
		"at with a zone":           {func(s *job.Spec) { s.Schedule = "at(2026-12-01T02:00:00Z)" }, []string{"without a zone"}},
		"zone with a space":        {func(s *job.Spec) { s.TimeZone = "Europe/ Berlin" }, []string{"IANA"}},
		"zone offset":              {func(s *job.Spec) { s.TimeZone = "+01:00" }, []string{"IANA"}},
		"local zone":               {func(s *job.Spec) { s.TimeZone = "Local" }, []string{"IANA"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := good
			c.change(&s)
			err := s.Validate()
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error does not name %q:\n%v", w, err)
				}
			}
			if strings.Count(err.Error(), "\n") > 0 {
				t.Errorf("one mistake, several faults:\n%v", err)
			}
		})
	}
}

func TestValidateReturnsAllFaultsAtOnce(t *testing.T) {
	err := job.Spec{Lease: time.Minute, Timeout: time.Minute, Retries: 3, MemoryMB: 1, MaxAge: 1, Policy: "x", Schedule: "daily", TimeZone: "?"}.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, w := range []string{"Name", "Timeout", "Retries", "MemoryMB", "MaxAge", "Policy", "Schedule", "TimeZone"} {
		if !strings.Contains(err.Error(), w+" is ") && !strings.Contains(err.Error(), w+" of ") {
			t.Errorf("%s is missing in:\n%v", w, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	d := job.Spec{Name: "x", Lease: 30 * time.Second}.WithDefaults()
	if d.ContendMargin != 10*time.Second || d.Reserve != 2*time.Second || d.MemoryMB != 128 || d.Policy != job.SkipWhenAlive || d.WorkTime != time.Second || d.MaxCursor != 512 || d.CatchUp != 0 {
		t.Errorf("defaults are %+v", d)
	}
	if d := (job.Spec{ExpectedInterval: time.Hour}).WithDefaults(); d.CatchUp != 3*time.Hour {
		t.Errorf("catch-up %s, want three intervals", d.CatchUp)
	}
	short := job.Spec{Lease: time.Second}
	if short.Contend() != 2*time.Second || short.Overhead() != 4*time.Second {
		t.Errorf("contend %s, overhead %s, want 2s and 4s", short.Contend(), short.Overhead())
	}
}
