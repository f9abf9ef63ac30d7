// Package arch holds no code: its test keeps the direction of imports.
package arch
