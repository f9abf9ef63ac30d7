package locktest

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
)

// maxDepth is how deep lists and maps may nest.
const maxDepth = 32

// wireValue is an attribute value as it stands in a request's JSON. Decoding
// into typed fields refuses values of the wrong JSON type.
type wireValue struct {
	S    *string               `json:",omitempty"`
	N    *string               `json:",omitempty"`
	B    *[]byte               `json:",omitempty"`
	BOOL *bool                 `json:",omitempty"`
	NULL *bool                 `json:",omitempty"`
	M    map[string]*wireValue `json:",omitzero"`
	L    []*wireValue          `json:",omitzero"`
	SS   []string              `json:",omitzero"`
	NS   []string              `json:",omitzero"`
	BS   [][]byte              `json:",omitzero"`
}

// wireItem is an item or a key in a request's JSON.
type wireItem map[string]*wireValue

// decode checks the item and turns it into stored form.
func (w wireItem) decode() (item, error) {
	it := make(item, len(w))
	for name, wv := range w {
		v, err := wv.decode(1)
		if err != nil {
			return nil, err
		}
		it[name] = v
	}
	return it, nil
}

// types counts the members that are set; exactly one must be.
func (w *wireValue) types() int {
	n := 0
	for _, set := range [...]bool{
		w.S != nil, w.N != nil, w.B != nil, w.BOOL != nil, w.NULL != nil,
		w.M != nil, w.L != nil, w.SS != nil, w.NS != nil, w.BS != nil,
	} {
		if set {
			n++
		}
	}
	return n
}

func (w *wireValue) decode(depth int) (value, error) {
	if w == nil || w.types() == 0 {
		return value{}, validation("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
	if w.types() > 1 {
		return value{}, validation("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
	}
	if depth > maxDepth {
		return value{}, validation("Nesting Levels have exceeded supported limits")
	}
	switch {
	case w.S != nil:
		return stringValue(*w.S), nil
	case w.N != nil:
		n, err := parseNumber(*w.N)
		return numberValue(n), err
	case w.B != nil:
		return value{kind: kindBinary, text: string(*w.B)}, nil
	case w.BOOL != nil:
		return value{kind: kindBool, truth: *w.BOOL}, nil
	case w.NULL != nil:
		if !*w.NULL {
			return value{}, invalidParameter("Null attribute value types must have the value of true")
		}
		return value{kind: kindNull}, nil
	case w.M != nil:
		return w.decodeMap(depth)
	case w.L != nil:
		return w.decodeList(depth)
	default:
		return w.decodeSet()
	}
}

func (w *wireValue) decodeMap(depth int) (value, error) {
	fields := make(map[string]value, len(w.M))
	for name, wv := range w.M {
		v, err := wv.decode(depth + 1)
		if err != nil {
			return value{}, err
		}
		fields[name] = v
	}
	return value{kind: kindMap, fields: fields}, nil
}

func (w *wireValue) decodeList(depth int) (value, error) {
	list := make([]value, len(w.L))
	for i, wv := range w.L {
		v, err := wv.decode(depth + 1)
		if err != nil {
			return value{}, err
		}
		list[i] = v
	}
	return value{kind: kindList, list: list}, nil
}

func (w *wireValue) decodeSet() (value, error) {
	set := value{}
	switch {
	case w.SS != nil:
		set.kind = kindStringSet
		for _, s := range w.SS {
			set.list = append(set.list, stringValue(s))
		}
	case w.NS != nil:
		set.kind = kindNumberSet
		for _, text := range w.NS {
			n, err := parseNumber(text)
			if err != nil {
				return value{}, err
			}
			set.list = append(set.list, numberValue(n))
		}
	default:
		set.kind = kindBinarySet
		for _, b := range w.BS {
			set.list = append(set.list, value{kind: kindBinary, text: string(b)})
		}
	}
	return set, set.checkSet()
}

// checkSet refuses empty sets and sets that name an element twice.
func (v value) checkSet() error {
	if len(v.list) == 0 {
		switch v.kind {
		case kindStringSet:
			return invalidParameter("An string set  may not be empty")
		case kindNumberSet:
			return invalidParameter("An number set  may not be empty")
		default:
			return invalidParameter("Binary sets should not be empty")
		}
	}
	seen := make(map[string]bool, len(v.list))
	for _, e := range v.list {
		id := e.scalarText()
		if seen[id] {
			return invalidParameter("Input collection %s contains duplicates.", v.describe())
		}
		seen[id] = true
	}
	return nil
}

// scalarText is a text that two scalars of one type share only when they are equal.
func (v value) scalarText() string {
	if v.kind == kindNumber {
		return v.number.text
	}
	return v.text
}

// describe writes a value into an error message.
func (v value) describe() string {
	if !v.isSet() {
		return "{" + string(v.kind) + ":" + v.scalarText() + "}"
	}
	texts := make([]string, len(v.list))
	for i, e := range v.list {
		texts[i] = e.scalarText()
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// MarshalJSON writes the item in the service's JSON form.
func (it item) MarshalJSON() ([]byte, error) {
	return appendFields(nil, it), nil
}

func appendFields(buf []byte, fields map[string]value) []byte {
	buf = append(buf, '{')
	first := true
	for name, v := range fields {
		if !first {
			buf = append(buf, ',')
		}
		first = false
		buf = appendText(buf, name)
		buf = append(buf, ':')
		buf = v.appendJSON(buf)
	}
	return append(buf, '}')
}

func (v value) appendJSON(buf []byte) []byte {
	buf = append(buf, `{"`...)
	buf = append(buf, v.kind...)
	buf = append(buf, `":`...)
	switch v.kind {
	case kindString, kindNumber, kindBinary:
		buf = v.appendScalar(buf)
	case kindBool:
		buf = strconv.AppendBool(buf, v.truth)
	case kindNull:
		buf = append(buf, "true"...)
	case kindMap:
		buf = appendFields(buf, v.fields)
	case kindList:
		buf = appendElements(buf, v.list, value.appendJSON)
	default:
		buf = appendElements(buf, v.list, value.appendScalar)
	}
	return append(buf, '}')
}

func appendElements(buf []byte, list []value, one func(value, []byte) []byte) []byte {
	buf = append(buf, '[')
	for i, e := range list {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = one(e, buf)
	}
	return append(buf, ']')
}

// appendScalar writes the text of a string, number or binary value.
func (v value) appendScalar(buf []byte) []byte {
	switch v.kind {
	case kindNumber:
		buf = append(buf, '"')
		buf = append(buf, v.number.text...)
		return append(buf, '"')
	case kindBinary:
		buf = append(buf, '"')
		buf = base64.StdEncoding.AppendEncode(buf, []byte(v.text))
		return append(buf, '"')
	default:
		return appendText(buf, v.text)
	}
}

func appendText(buf []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // cannot happen: every string has a JSON form
		return append(buf, `""`...)
	}
	return append(buf, quoted...)
}
