// Command mutants tests the simulations of the lock and of whole jobs: it plants
// one bug at a time in lockkit or in singleton, and expects the simulation of that
// package, and nothing else, to fail.
//
//	go run ./internal/mutants            all of them
//	go run ./internal/mutants -only wall those whose package and name contain "wall"
//
// A bug is a replacement of text that must occur exactly once, so a mutant whose
// place is gone is an error and not a success. No file is touched: the go command
// reads the changed text through an overlay. A mutant counts as caught when the
// simulation names an invariant that its bug may break; one that does not compile,
// or that ends in any other way, does not.
package main
