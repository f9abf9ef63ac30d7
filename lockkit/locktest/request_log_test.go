package locktest

import "testing"

func TestTheLogKeepsTheNewest(t *testing.T) {
	db := New()
	for range maxRequests + 5 {
		db.log.add(Request{})
	}
	all := db.Requests()
	if len(all) != maxRequests {
		t.Fatalf("%d requests", len(all))
	}
	for i, r := range all {
		if r.Seq != i+6 {
			t.Fatalf("request %d has Seq %d", i, r.Seq)
		}
	}
	db.ResetRequests()
	if got := db.Requests(); len(got) != 0 {
		t.Errorf("%d requests after a reset", len(got))
	}
	if r := db.log.add(Request{}); r.Seq != 1 {
		t.Errorf("Seq %d after a reset", r.Seq)
	}
}
