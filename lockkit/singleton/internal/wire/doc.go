// Package wire is the form of what a job puts on its lock's item: the records of
// its runs and the controls that operators set. The names are shared with items
// that already exist, so they can never change. It decides nothing; the handler
// of the job and the operator's controls do.
package wire
