// Package readme holds no code: its test compiles the programs in the README.
package readme
