package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func TestControlsSurviveTheItem(t *testing.T) {
	at := time.UnixMilli(1764554400123).UTC()
	for _, p := range []Pause{
		{ID: "a", At: at},
		{ID: "a", By: "jane", Why: "the database moves", At: at, Until: at.Add(time.Hour)},
	} {
		if back, err := ReadPause(p.Value()); err != nil || back != p {
			t.Errorf("%+v became %+v, %v", p, back, err)
		}
	}
	for _, s := range []Stop{{Token: 9007199254740993, By: "jane"}, {Token: 1, Tick: at}} {
		if back, ok := ReadStop(s.Value()); !ok || back != s {
			t.Errorf("%+v became %+v", s, back)
		}
	}
}

func TestPauseEndsAtItsTime(t *testing.T) {
	now := time.UnixMilli(1764554400123)
	for name, c := range map[string]struct {
		p    Pause
		want bool
	}{
		"none":          {Pause{}, false},
		"without end":   {Pause{ID: "a"}, true},
		"until later":   {Pause{ID: "a", Until: now.Add(time.Millisecond)}, true},
		"until now":     {Pause{ID: "a", Until: now}, false},
		"until earlier": {Pause{ID: "a", Until: now.Add(-time.Hour)}, false},
	} {
		if c.p.On(now) != c.want {
			t.Errorf("%s: %v", name, !c.want)
		}
	}
}

func TestWhatIsNoPauseIsAnErrorAndNotTheLackOfOne(t *testing.T) {
	m := func(m map[string]types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: m}
	}
	for word, v := range map[string]types.AttributeValue{
		"map":     String("yes"),
		`"id"`:    m(nil),
		`"until"`: m(map[string]types.AttributeValue{KeyID: String("a"), KeyUntil: String("tomorrow")}),
	} {
		if p, err := ReadPause(v); err == nil || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "paused") {
			t.Errorf("%v was read as %+v, %v", v, p, err)
		}
	}
	if p, err := ReadPause(nil); err != nil || p != (Pause{}) {
		t.Errorf("%+v, %v", p, err)
	}
	for _, v := range []types.AttributeValue{nil, Number(1), m(nil), m(map[string]types.AttributeValue{KeyToken: String("1")})} {
		if s, ok := ReadStop(v); ok {
			t.Errorf("%v was read as %+v", v, s)
		}
	}
}
