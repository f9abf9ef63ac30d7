package locktest

import (
	"encoding/json"
	"testing"
)

// FuzzExpression feeds any text to all parsers, and what they accept to the
// evaluators: whatever a client sends, the answer is an error or a result.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"a = :v", "a <> b AND NOT (c < :v OR d >= :v)", "a BETWEEN :v AND :w", "a IN (:v, :w, b)", "size(a.b[0]) > :v",
		"attribute_exists(#n) AND attribute_not_exists(a.#n[1])", "attribute_type(a, :s)", "begins_with(a, :s) OR contains(l, :v)",
		"SET a = :v, b.c = if_not_exists(b.c, :v) + :w REMOVE l[0], m.x ADD n :v DELETE ss :ss", "SET l = list_append(l, :l)", "set a = (b - :v)",
		"REMOVE a", "ADD n :v", "a, b.c[1], #n", "((a = b))", "((((", "NOT NOT NOT", "a[", "a[99999999999]", "a..b", "#", ":", "SET", "€", "\x00\xff", "a = = b", "owner = :v",
		"size(size(a)) = :v", "a = b)", "(a) = (b)", "SET a = :v SET b = :v", "begins_with(:s, :s)",
	} {
		f.Add(seed)
	}
	numeral, words, numbers := fuzzValues(f)
	it, before := fuzzItem(f), fuzzItem(f)
	f.Fuzz(func(t *testing.T, source string) {
		for _, p := range []parameter{conditionParameter, filterParameter, keyParameter, updateParameter, projectionParameter} {
			b := &binder{
				parsed: new(parseCache),
				names:  map[string]string{"#n": "b"}, usedNames: map[string]bool{},
				values:     map[string]value{":v": numeral, ":w": numeral, ":s": stringValue("S"), ":ss": words, ":l": numbers},
				usedValues: map[string]bool{},
			}
			e, err := b.expression(p, &source)
			if err != nil {
				continue
			}
			switch e := e.(type) {
			case updateExpr:
				for _, old := range []item{it, {}} {
					updated, err := applyUpdate(e, old)
					if err == nil {
						roundTrip(t, updated)
						project(updated, e.targets())
					}
				}
			case projectionExpr:
				roundTrip(t, project(it, e.paths))
			default:
				if holds(e, it) == holds(notExpr{operand: e}, it) {
					t.Errorf("%q and its opposite agree", source)
				}
				holds(e, nil)
				mentioned(e)
				_, _ = keySchema{partition: keyAttribute{"a", kindNumber}}.checkCondition(e) // must only not panic
			}
			if !it.equal(before) {
				t.Fatalf("%q changed the item it reads", source)
			}
		}
	})
}

func fuzzValues(tb testing.TB) (numeral, words, numbers value) {
	tb.Helper()
	n, err := parseNumber("1")
	if err != nil {
		tb.Fatal(err)
	}
	numeral = numberValue(n)
	words = value{kind: kindStringSet, list: []value{stringValue("x"), stringValue("y")}}
	numbers = value{kind: kindList, list: []value{numeral, numeral, {kind: kindMap, fields: map[string]value{"x": numeral}}}}
	return numeral, words, numbers
}

// fuzzItem has what the seeds mention.
func fuzzItem(tb testing.TB) item {
	tb.Helper()
	numeral, words, numbers := fuzzValues(tb)
	return item{
		"a": numeral, "b": {kind: kindMap, fields: map[string]value{"c": numeral, "x": numbers}}, "c": stringValue("c"),
		"l": numbers, "m": {kind: kindMap, fields: map[string]value{"x": words}}, "n": numeral, "ss": words, "s": stringValue("x"),
	}
}

// roundTrip checks that an item can be sent and read back.
func roundTrip(t *testing.T, it item) {
	t.Helper()
	text, err := json.Marshal(it)
	if err != nil {
		t.Fatal(err)
	}
	var w wireItem
	if err := json.Unmarshal(text, &w); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	back, err := w.decode()
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if !back.equal(it) {
		t.Fatalf("%s came back as another item", text)
	}
}

// FuzzRequest feeds any body to every operation.
func FuzzRequest(f *testing.F) {
	operations := []string{
		"CreateTable", "DescribeTable", "DeleteTable", "ListTables", "UpdateTimeToLive", "DescribeTimeToLive", "PutItem", "GetItem", "UpdateItem",
		"DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems",
	}
	for i, seed := range []string{
		`{"TableName":"table","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`,
		`{"TableName":"table"}`, `{"TableName":"table"}`, `{"Limit":1}`,
		`{"TableName":"table","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`, `{"TableName":"table"}`,
		`{"TableName":"table","Item":{"pk":{"S":"x"},"n":{"N":"1"},"b":{"B":"eA=="},"l":{"L":[{"NULL":true}]},"ss":{"SS":["a"]}}}`,
		`{"TableName":"table","Key":{"pk":{"S":"x"}},"ProjectionExpression":"a.b[1], n"}`,
		`{"TableName":"table","Key":{"pk":{"S":"x"}},"UpdateExpression":"SET a = :v","ExpressionAttributeValues":{":v":{"S":"x"}},"ReturnValues":"UPDATED_NEW"}`,
		`{"TableName":"table","Key":{"pk":{"S":"x"}},"ConditionExpression":"attribute_exists(pk)"}`,
		`{"TableName":"table","KeyConditionExpression":"pk = :v","ExpressionAttributeValues":{":v":{"S":"x"}},"Limit":1,"ExclusiveStartKey":{"pk":{"S":"x"}}}`,
		`{"TableName":"table","Segment":0,"TotalSegments":2,"ExclusiveStartKey":{"pk":{"S":"x"}}}`,
		`{"RequestItems":{"table":{"Keys":[{"pk":{"S":"x"}}]}}}`, `{"RequestItems":{"table":[{"PutRequest":{"Item":{"pk":{"S":"y"}}}}]}}`,
		`{"TransactItems":[{"Get":{"TableName":"table","Key":{"pk":{"S":"x"}}}}]}`,
		`{"ClientRequestToken":"t","TransactItems":[{"Put":{"TableName":"table","Item":{"pk":{"S":"x"}}}},{"ConditionCheck":{"TableName":"table","Key":{"pk":{"S":"y"}},"ConditionExpression":"attribute_exists(pk)"}}]}`,
	} {
		f.Add(uint8(i), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, operation uint8, body []byte) {
		db := New()
		for _, step := range []struct{ operation, body string }{
			{"CreateTable", `{"TableName":"table","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}`},
			{"PutItem", `{"TableName":"table","Item":{"pk":{"S":"x"},"a":{"M":{"b":{"L":[]}}}}}`},
			{operations[int(operation)%len(operations)], string(body)},
		} {
			a, err := db.serve(t.Context(), step.operation, []byte(step.body))
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(a.body) || a.status == 500 {
				t.Errorf("%s %s answers %d %s", step.operation, step.body, a.status, a.body)
			}
		}
	})
}
