// Package bench holds lockkit to its performance goals. Everything here is
// behind the build tag bench, so that no ordinary test depends on how fast a
// machine is: see `make bench`, which prints each goal beside what was measured.
//
// How long a lock is without a holder and what a wait costs are measured on
// virtual time, with answers after 10 to 30 ms and wall clocks up to 15 ms apart,
// and so do not depend on the machine either. What the client costs is compared
// with the SDK alone in one interleaved run, and the SDK with itself, which shows
// what differences mean nothing. Only the run of 10,000 leases takes its time.
package bench
