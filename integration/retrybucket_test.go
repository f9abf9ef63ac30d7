//go:build integration

package integration

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
)

// The SDK gives all callers of one client a common budget for retries. A job that
// uses it up does not take the heartbeat's retries away.
func TestTheJobsFailuresDoNotStarveTheHeartbeat(t *testing.T) {
	url := endpoint(t)
	table := newTable(t, url)
	w := newWire(t, url)
	client := plainClient(w.url, nil)
	log := &lines{}
	locks := process(t, client, table, lockkit.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	l, _, _ := acquire(t, locks, "starved", lease)

	w.harms(func(operation string) harm {
		if operation == "PutItem" {
			return failed
		}
		return pass
	})
	job := func() error {
		_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: counterKey("job")})
		return err
	}
	var calls sync.WaitGroup
	for range 150 {
		calls.Go(func() {
			if job() == nil {
				t.Error("a call of the job succeeded")
			}
		})
	}
	calls.Wait()
	if err := job(); err == nil || !strings.Contains(err.Error(), "quota exceeded") {
		t.Fatalf("the budget is not used up: %v", err)
	}

	for range 3 {
		w.next("UpdateItem", failed)
		time.Sleep(lease)
		if err := l.Err(); err != nil {
			t.Fatal(err)
		}
	}
	got := log.with("event_id=42")
	if len(got) != 3 {
		t.Errorf("logged %d failed renewals, want 3: %q", len(got), got)
	}
	for _, line := range got {
		if !strings.Contains(line, "InternalServerError") || strings.Contains(line, "quota") {
			t.Errorf("the failed renewal is logged as %s", line)
		}
	}
	release(t, l)
}

// lines keeps a log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (x *lines) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buf.Write(p)
}

// with returns the lines that contain a text.
func (x *lines) with(text string) (found []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for line := range strings.Lines(x.buf.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}
