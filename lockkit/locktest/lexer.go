package locktest

import "strings"

// tokenKind tells the tokens of an expression apart.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // attribute, keyword or function name
	tokenName             // #alias
	tokenValue            // :value
	tokenNumber           // list index
	tokenSymbol           // operator or punctuation
)

// token is one word of an expression and where it stands.
type token struct {
	kind       tokenKind
	text       string
	start, end int
}

// is reports whether the token is this symbol.
func (t token) is(symbol string) bool { return t.kind == tokenSymbol && t.text == symbol }

// isKeyword compares without case, as the service does for keywords.
func (t token) isKeyword(word string) bool {
	return t.kind == tokenWord && strings.EqualFold(t.text, word)
}

// tokenize cuts an expression into tokens, of which the last is the end. A
// character that no token starts with becomes a symbol, which then fits nowhere
// and is reported by the parser.
func tokenize(expression string) []token {
	var tokens []token
	for i := 0; i < len(expression); {
		if isSpace(expression[i]) {
			i++
			continue
		}
		kind, end := scanToken(expression, i)
		tokens = append(tokens, token{kind: kind, text: expression[i:end], start: i, end: end})
		i = end
	}
	end := len(expression)
	return append(tokens, token{kind: tokenEnd, text: "<EOF>", start: end, end: end})
}

func scanToken(s string, i int) (kind tokenKind, end int) {
	c := s[i]
	switch {
	case isLetter(c):
		return tokenWord, scanWhile(s, i, isNamePart)
	case isDigit(c):
		return tokenNumber, scanWhile(s, i, isDigit)
	case c == '#' || c == ':':
		end = scanWhile(s, i+1, isNamePart)
		switch {
		case end == i+1:
			return tokenSymbol, end
		case c == '#':
			return tokenName, end
		default:
			return tokenValue, end
		}
	case strings.HasPrefix(s[i:], "<>"), strings.HasPrefix(s[i:], "<="), strings.HasPrefix(s[i:], ">="):
		return tokenSymbol, i + 2
	default:
		// A whole rune, so that a message never ends in half a character.
		end = i + 1
		for end < len(s) && s[end]&0xC0 == 0x80 {
			end++
		}
		return tokenSymbol, end
	}
}

func scanWhile(s string, i int, in func(byte) bool) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isNamePart is what may follow the first letter of a name.
func isNamePart(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }
