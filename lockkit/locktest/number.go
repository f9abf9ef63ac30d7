package locktest

import (
	"errors"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// number is an exact decimal as the service keeps it: up to 38 significant
// digits, from 1E-130 to 9.99…E+125 in magnitude, or zero. A float64 would lose
// the last digits of a 64-bit token, which is what this package must not do.
type number struct {
	dec  *apd.Decimal // reduced: no trailing zeros; never changed
	text string       // normal form: plain digits, no exponent, no + sign
}

const (
	maxDigits   = 38
	maxExponent = 125  // of the leading digit
	minExponent = -130 // of the leading digit
	// maxNumberText bounds the work spent on a number that is written with
	// thousands of needless zeros.
	maxNumberText = 1000
)

// parseNumber reads the text of an N value.
func parseNumber(text string) (number, error) {
	if text == "" {
		return number{}, validation("The parameter cannot be converted to a numeric value")
	}
	if !isDecimal(text) || len(text) > maxNumberText {
		return number{}, validation("The parameter cannot be converted to a numeric value: %s", text)
	}
	dec, _, err := apd.NewFromString(text)
	if err != nil {
		// The syntax is right, so what is left is an exponent beyond apd's own range.
		if strings.Contains(strings.ToLower(text), "e-") {
			return number{}, errNumberUnderflow
		}
		return number{}, errNumberOverflow
	}
	return newNumber(dec)
}

// isDecimal checks the syntax; it keeps out what apd reads and the service does
// not (NaN, Infinity, a bare dot).
func isDecimal(text string) bool {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(unsigned(mantissa), ".")
	if !isDigits(whole) || !isDigits(fraction) || whole+fraction == "" {
		return false
	}
	exponent = unsigned(exponent)
	return !hasExponent || exponent != "" && isDigits(exponent)
}

func unsigned(text string) string {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[1:]
	}
	return text
}

func isDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

var (
	errNumberOverflow  = validation("Number overflow. Attempting to store a number with magnitude larger than supported range")
	errNumberUnderflow = validation("Number underflow. Attempting to store a number with magnitude smaller than supported range")
	errNumberDigits    = validation("Attempting to store more than 38 significant digits in a Number")
)

// newNumber checks the range of dec, which it takes over.
func newNumber(dec *apd.Decimal) (number, error) {
	dec.Reduce(dec)
	if dec.IsZero() {
		return number{dec: new(apd.Decimal), text: "0"}, nil
	}
	digits := dec.NumDigits()
	leading := int64(dec.Exponent) + digits - 1
	switch {
	case leading > maxExponent:
		return number{}, errNumberOverflow
	case leading < minExponent:
		return number{}, errNumberUnderflow
	case digits > maxDigits:
		return number{}, errNumberDigits
	}
	return number{dec: dec, text: dec.Text('f')}, nil
}

func (n number) compare(m number) int { return n.dec.Cmp(m.dec) }

// plus returns n + m exactly, or an error where the sum does not fit.
func (n number) plus(m number) (number, error) {
	sum := new(apd.Decimal)
	if _, err := apd.BaseContext.Add(sum, n.dec, m.dec); err != nil {
		return number{}, errNumberOverflow
	}
	return fitting(newNumber(sum))
}

// minus returns n - m exactly, or an error where the difference does not fit.
func (n number) minus(m number) (number, error) {
	diff := new(apd.Decimal)
	if _, err := apd.BaseContext.Sub(diff, n.dec, m.dec); err != nil {
		return number{}, errNumberOverflow
	}
	return fitting(newNumber(diff))
}

// fitting turns the error about digits into the one that the service has for
// results: there too many digits count as an overflow.
func fitting(n number, err error) (number, error) {
	if errors.Is(err, errNumberDigits) {
		err = errNumberOverflow
	}
	return n, err
}

// size is about one byte for two digits and one more, and one for a sign.
func (n number) size() int {
	size := int(n.dec.NumDigits()+1)/2 + 1
	if n.dec.Negative {
		size++
	}
	return size
}
