// Package bench holds lockkit to its performance goals. Everything here is
// behind the build tag bench, so that no ordinary test depends on how fast a
// machine is: see `make bench`, which prints each goal beside what was measured.
//
// How long a lock is without a holder, what a wait costs and how many requests a
// tick takes are measured on virtual time, with answers after 10 to 30 ms and wall
// clocks up to 15 ms apart, and so do not depend on the machine either. What the
// client costs is compared with the SDK alone in one interleaved run, and the SDK
// with itself, which shows what differences mean nothing. The run of 10,000 leases
// takes its time.
//
// What a Lambda function pays is measured on real processes behind the local
// Lambda, with the in-memory endpoint over loopback, in three sessions of which the
// middle one counts. They are built by the Makefile's own command for functions:
// the module's functions, and the programs in handlers/, which differ in one thing
// only. One does nothing; one has a client, a logger and a job's work, and sends
// two conditional writes by the SDK alone; one has the lock in their place. So a
// warm invoke tells what the library adds to the two writes that any lock of this
// kind needs, and another line tells what the two cost. These figures, and those
// of the client's CPU, need a quiet machine: where a control is not near to nothing,
// the line above it says nothing.
package bench
