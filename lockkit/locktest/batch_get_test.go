package locktest

import (
	"fmt"
	"strings"
	"testing"
)

// The requests stay inside the package, as 16 MB of JSON take their time.
func TestABatchOf16MBLeavesKeysUnprocessed(t *testing.T) {
	db := New()
	if err := CreateTable(t.Context(), db.Client(), "things", "pk", ""); err != nil {
		t.Fatal(err)
	}
	tab, err := db.table("things")
	if err != nil {
		t.Fatal(err)
	}
	request := &batchGetRequest{RequestItems: map[string]*batchKeys{"things": {}}}
	for i := range 60 {
		name := fmt.Sprint(i)
		tab.put(item{"pk": stringValue(name), "a": stringValue(strings.Repeat("x", 300_000))})
		keys := request.RequestItems["things"]
		keys.Keys = append(keys.Keys, wireItem{"pk": {S: &name}})
	}
	read, rounds := 0, 0
	for ; len(request.RequestItems) > 0 && rounds < 3; rounds++ {
		answer, err := request.run(db)
		if err != nil {
			t.Fatal(err)
		}
		out, ok := answer.(*batchGetAnswer)
		if !ok {
			t.Fatalf("answer is %T", answer)
		}
		read += len(out.Responses["things"])
		request.RequestItems = out.UnprocessedKeys
	}
	if read != 60 || rounds != 2 {
		t.Errorf("read %d of 60 in %d rounds", read, rounds)
	}
}
