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
		if back, on, err := Resting(p.Value(), at); err != nil || !on || back != p {
			t.Errorf("%+v became %+v, %v", p, back, err)
		}
	}
	for _, s := range []Stop{{Token: 9007199254740993, By: "jane"}, {Token: 1, Tick: at}} {
		if back, err := ReadStop(s.Value()); err != nil || back != s {
			t.Errorf("%+v became %+v", s, back)
		}
	}
}

func TestPauseEndsAtItsTime(t *testing.T) {
	now := time.UnixMilli(1764554400123).UTC()
	for name, c := range map[string]struct {
		p    Pause
		want bool
	}{
		"without end":   {Pause{ID: "a"}, true},
		"until later":   {Pause{ID: "a", Until: now.Add(time.Millisecond)}, true},
		"until now":     {Pause{ID: "a", Until: now}, false},
		"until earlier": {Pause{ID: "a", Until: now.Add(-time.Hour)}, false},
	} {
		if p, on, err := Resting(c.p.Value(), now); err != nil || on != c.want || p != c.p {
			t.Errorf("%s: %+v, %v, %v", name, p, on, err)
		}
	}
}

func TestWhatIsNoPauseIsAnErrorAndNotTheLackOfOne(t *testing.T) {
	m := func(m map[string]types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: m}
	}
	now := time.UnixMilli(1764554400123).UTC()
	for words, v := range map[string]types.AttributeValue{
		"is a string, expected a map":            String("yes"),
		`"id" in the attribute paused`:           m(nil),
		"is the number 5, expected a string":     m(map[string]types.AttributeValue{KeyID: Number(5)}),
		`"until" in the attribute paused`:        m(map[string]types.AttributeValue{KeyID: String("a"), KeyUntil: String("tomorrow")}),
		"is an empty string, expected a string":  m(map[string]types.AttributeValue{KeyID: String(""), KeyUntil: Number(now.UnixMilli() + 1)}),
		"is a list, expected a number of Unix m": m(map[string]types.AttributeValue{KeyID: String("a"), KeyUntil: &types.AttributeValueMemberL{}}),
	} {
		if p, on, err := Resting(v, now); err == nil || !on || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "types.") {
			t.Errorf("%v was read as %+v, %v, %v", v, p, on, err)
		}
	}
	if p, on, err := Resting(nil, now); err != nil || on || p != (Pause{}) {
		t.Errorf("%+v, %v, %v", p, on, err)
	}
	if p, on, err := Resting(m(map[string]types.AttributeValue{KeyUntil: Number(now.UnixMilli())}), now); err != nil || on {
		t.Errorf("one without an id that is over: %+v, %v, %v", p, on, err)
	}
}

func TestEndOfAPauseIsComparedAsDynamoDBCompares(t *testing.T) {
	now := time.UnixMilli(1764554400123).UTC()
	for until, on := range map[string]bool{
		"1764554400122.5": false, "1764554400123": false, "1764554400123.0": false, "1.764554400123e12": false, "-1": false, "-1e125": false, "0.5": false,
		"1764554400123.00000000000000000000001": true, "1764554400123.5": true, "1764554400124": true, "1e125": true, "9223372036854775807": true,
	} {
		v := &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{KeyID: String("a"), KeyUntil: &types.AttributeValueMemberN{Value: until}}}
		p, got, err := Resting(v, now)
		if err != nil || got != on || p.Until.IsZero() {
			t.Errorf("until %s: %v, %v, %v", until, got, p.Until, err)
		}
		if _, err := p.Until.MarshalJSON(); err != nil {
			t.Errorf("until %s: %v", until, err)
		}
	}
}

func TestWhatIsNoStopIsAnError(t *testing.T) {
	if s, err := ReadStop(nil); err != nil || s != (Stop{}) {
		t.Errorf("%+v, %v", s, err)
	}
	m := func(v types.AttributeValue) types.AttributeValue {
		return &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{KeyToken: v}}
	}
	for words, v := range map[string]types.AttributeValue{
		"is the number 1, expected a map":    Number(1),
		"is absent, expected the holder's":   &types.AttributeValueMemberM{},
		"is a string, expected the holder's": m(String("1")),
		"is the number 1.5, expected":        m(&types.AttributeValueMemberN{Value: "1.5"}),
	} {
		if s, err := ReadStop(v); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v was read as %+v, %v", v, s, err)
		}
	}
}
