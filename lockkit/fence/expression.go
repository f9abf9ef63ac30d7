package fence

import "strings"

// withAssignment adds an assignment to an update expression. Each of its clauses
// may be there once only, so it goes into the SET clause where there is one.
func withAssignment(update, assignment string) string {
	if end := endOfSet(update); end >= 0 {
		return update[:end] + " " + assignment + "," + update[end:]
	}
	if strings.TrimSpace(update) == "" {
		return "SET " + assignment
	}
	return "SET " + assignment + " " + update
}

// endOfSet returns where the keyword SET ends, or -1. No path can be mistaken for
// it: SET is a reserved word, so that an attribute of this name stands behind an
// alias, and an alias or a placeholder begins with a sign.
func endOfSet(update string) int {
	for at := 0; at < len(update); {
		if !wordSign(update[at]) {
			at++
			continue
		}
		end := endOfWord(update, at)
		if strings.EqualFold(update[at:end], "SET") {
			return end
		}
		at = end
	}
	return -1
}

// endOfWord returns where the word that begins at a place ends.
func endOfWord(update string, at int) int {
	end := at
	for end < len(update) && wordSign(update[end]) {
		end++
		if end < len(update) && (update[end] == '#' && update[end-1] != '.' || update[end] == ':') {
			break // "SET#a", which needs no space
		}
	}
	return end
}

// assigns reports whether an update expression changes an attribute or a part of
// it: each clause names what it changes first, and so does each item of its list.
func assigns(update, attribute string, names map[string]string) bool {
	target, depth := false, 0
	for at := 0; at < len(update); {
		switch c := update[at]; {
		case wordSign(c):
			end := endOfWord(update, at)
			word := update[at:end]
			at = end
			switch strings.ToUpper(word) {
			case "SET", "REMOVE", "ADD", "DELETE": // reserved words, so no attributes
				target = true
				continue
			}
			if target {
				top, _, _ := strings.Cut(word, ".")
				if name, ok := names[top]; ok {
					top = name
				}
				if top == attribute {
					return true
				}
			}
			target = false
			continue
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			target = true
		}
		at++
	}
	return false
}

// wordSign reports whether a sign can be part of a keyword, a path, an alias or a
// placeholder.
func wordSign(c byte) bool {
	return c == '#' || c == ':' || c == '_' || c == '.' || c == '-' ||
		'0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// inParentheses puts an expression in parentheses, unless it is in a pair
// already: DynamoDB refuses redundant ones.
func inParentheses(expression string) string {
	e := strings.TrimSpace(expression)
	if strings.HasPrefix(e, "(") {
		depth := 0
		for at, c := range []byte(e) {
			switch c {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 {
				if at == len(e)-1 {
					return e
				}
				break
			}
		}
	}
	return "(" + e + ")"
}
