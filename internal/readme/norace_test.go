//go:build !race

package readme

var flags []string
