package lockkit

import (
	"reflect"
	"testing"
)

// TestLeaseFitsItsSizeClass keeps what a held lease weighs: Go's allocator has a
// class of 352 bytes and then one of 384.
func TestLeaseFitsItsSizeClass(t *testing.T) {
	if size := reflect.TypeFor[Lease]().Size(); size > 352 {
		t.Errorf("a Lease has %d bytes, expected at most 352: put narrow fields side by side", size)
	}
}
