//go:build race

package readme

// flags build the programs as the tests are built, so that what both need is
// compiled once.
var flags = []string{"-race"}
