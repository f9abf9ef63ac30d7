package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	owner  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	uuid   = "6f0ad0e7-7c44-4bfa-9e5f-2b8f5b3f6a01"
	stream = "2026/12/01/[$LATEST]0123456789abcdef0123456789abcdef"
)

func attribute(name string, v types.AttributeValue) int {
	m, _ := v.(*types.AttributeValueMemberM)
	return len(name) + mapSize(m.Value)
}

func TestBothRecordsStayUnder400Bytes(t *testing.T) {
	now := time.UnixMilli(1764554400123)
	for _, text := range []string{"", "boom", strings.Repeat("x", 1000), strings.Repeat("🙂", 300), strings.Repeat("\xff", 500)} {
		for _, s := range []string{"", stream, "2026/12/01/" + strings.Repeat("f", 64) + stream[10:], strings.Repeat("é", 400)} {
			r := Record{Owner: owner, Tick: now, Started: now, RequestID: uuid + uuid, LogStream: s}
			running := attribute("run", r.Queueing())
			crashed := attribute("prev", r.Queueing())
			r.Ended, r.Outcome, r.Err = now, "out_of_time", text
			ended := attribute("prev", r.Value())
			if most := running + max(crashed, ended); most > 400 {
				t.Errorf("error of %d bytes, stream of %d: %d bytes (%d running, %d crashed, %d ended)", len(text), len(s), most, running, crashed, ended)
			}
			back, ok := ReadRecord(r.Value())
			if !ok || !utf8.ValidString(back.Err) || len(back.Err) > maxError || text != "" && back.Err == "" {
				t.Errorf("error of %d bytes became %q", len(text), back.Err)
			}
		}
	}
}

func TestRecordKeepsTheLogStreamWhereItFits(t *testing.T) {
	now := time.UnixMilli(1764554400123).UTC()
	r := Record{Owner: owner, Tick: now, Started: now, RequestID: uuid, LogStream: stream}
	for queues, v := range map[bool]types.AttributeValue{false: r.Value(), true: r.Queueing()} {
		if back, ok := ReadRecord(v); !ok || back != r || IsQueueing(v) != queues {
			t.Errorf("running: %+v, want %+v", back, r)
		}
	}
	r.Ended, r.Outcome, r.Err = now, "failed", strings.Repeat("e", 60)
	if back, _ := ReadRecord(r.Value()); back != r {
		t.Errorf("short error: %+v", back)
	}
	r.Err = strings.Repeat("e", maxError)
	if back, _ := ReadRecord(r.Value()); back.LogStream != "" || back.Err != r.Err || back.RequestID != uuid {
		t.Errorf("long error: %+v", back)
	}
}

func TestReadRecordTakesWhateverIsThere(t *testing.T) {
	for _, v := range []types.AttributeValue{
		nil, String("x"), &types.AttributeValueMemberM{}, &types.AttributeValueMemberNULL{Value: true},
		&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{KeyOwner: Number(1), KeyRunTick: String("x")}},
	} {
		if r, ok := ReadRecord(v); ok {
			t.Errorf("%v is read as %+v", v, r)
		}
	}
	odd := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{
		KeyOwner: String("o"), KeyRunTick: String("x"), keyStarted: &types.AttributeValueMemberN{Value: "1e400"}, keyError: nil,
	}}
	if r, ok := ReadRecord(odd); !ok || r != (Record{Owner: "o"}) {
		t.Errorf("%+v", r)
	}
}

func TestCutKeepsRunesWhole(t *testing.T) {
	for range 1000 {
		b := make([]byte, rand.IntN(200))
		for i := range b {
			b[i] = byte(rand.IntN(256))
		}
		if got := Cut(string(b), 120); !utf8.ValidString(got) || len(got) > 120 {
			t.Fatalf("%q became %q", b, got)
		}
	}
}
