package locktest

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumberNormalForm(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.000": "0", "0e1000": "0", "+3": "3", "007": "7", "1.500": "1.5", ".5": "0.5", "5.": "5", "1e3": "1000", "1E+3": "1000",
		"-1.20e-2": "-0.012", "9007199254740993": "9007199254740993", "9223372036854775806": "9223372036854775806",
		"1e125": "1" + strings.Repeat("0", 125), "1e-130": "0." + strings.Repeat("0", 129) + "1",
		"12345678901234567890123456789012345678":     "12345678901234567890123456789012345678",
		"100000000000000000000000000000000000000000": "100000000000000000000000000000000000000000",
	} {
		n, err := parseNumber(in)
		if err != nil || n.text != want {
			t.Errorf("parseNumber(%q) = %q, %v; want %q", in, n.text, err, want)
		}
	}
}

func TestNumberErrors(t *testing.T) {
	const (
		overflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
		underflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
		digits    = "Attempting to store more than 38 significant digits in a Number"
	)
	tests := map[string]string{
		"1e126": overflow, "11e125": overflow, "-1e126": overflow, "1e100000000": overflow, "1e99999999999999999999": overflow,
		"1e-131": underflow, "0.9e-130": underflow, "1e-100000000": underflow, "1e-99999999999999999999": underflow,
		"123456789012345678901234567890123456789": digits, "1.23456789012345678901234567890123456789": digits,
		"": "The parameter cannot be converted to a numeric value",
	}
	for _, garbage := range []string{"NaN", "Infinity", "-Inf", "dog", " 1", "1 ", "1x", "--1", "1.2.3", "e5", ".", "-", "1e", "1e+", "0x10", "1_000", "١"} {
		tests[garbage] = "The parameter cannot be converted to a numeric value: " + garbage
	}
	for in, want := range tests {
		if n, err := parseNumber(in); err == nil || messageOf(err) != want {
			t.Errorf("parseNumber(%q) = %q, %v; want error %q", in, n.text, err, want)
		}
	}
}

// rat is the model of a number: an exact fraction.
func rat(t *rapid.T, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("the model cannot read %q", text)
	}
	return r
}

func drawNumber(t *rapid.T, label string) number {
	text := fmt.Sprintf("%d.%02de%d",
		rapid.Int64().Draw(t, label),
		rapid.IntRange(0, 99).Draw(t, label+" fraction"),
		rapid.IntRange(-9, 9).Draw(t, label+" exponent"))
	n, err := parseNumber(text)
	if err != nil {
		t.Fatalf("parseNumber(%q): %v", text, err)
	}
	if rat(t, text).Cmp(rat(t, n.text)) != 0 {
		t.Fatalf("parseNumber(%q) = %q, another number", text, n.text)
	}
	return n
}

func TestNumbersAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNumber(t, "a"), drawNumber(t, "b")
		x, y := rat(t, a.text), rat(t, b.text)
		if got, want := a.compare(b), x.Cmp(y); got != want {
			t.Errorf("compare(%s, %s) = %d, want %d", a.text, b.text, got, want)
		}
		check := func(operator string, got number, err error, want *big.Rat) {
			if err != nil {
				return // more than 38 digits
			}
			if rat(t, got.text).Cmp(want) != 0 {
				t.Errorf("%s %s %s = %s", a.text, operator, b.text, got.text)
			}
		}
		sum, err := a.plus(b)
		check("+", sum, err, new(big.Rat).Add(x, y))
		diff, err := a.minus(b)
		check("-", diff, err, new(big.Rat).Sub(x, y))
	})
}
