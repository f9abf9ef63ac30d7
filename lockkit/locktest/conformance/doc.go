// Package conformance checks whether a DynamoDB endpoint is one that lockkit
// works on: the service itself, or one of the many stand-ins for it. A stand-in
// that loses the last digits of a number, or the order of a transaction's
// reasons, makes tests of locks pass that should fail.
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, func(tb testing.TB) *dynamodb.Client { return newClient(tb) })
//	}
//
// [Endpoint] checks single answers of DynamoDB's, each in a subtest of its own;
// [Locks] runs lockkit over the endpoint, with leases of a second, for a few
// seconds; [Run] does both. Each makes a table of its own with an unknown name,
// with on-demand billing, and deletes it at the end; everything else on the
// endpoint is left alone. Needed are the permissions of lockkit and those to
// create, describe and delete a table, and to write, query and delete its items.
//
// It is a package beside locktest so that programs which serve the in-memory
// DynamoDB do not link package testing.
package conformance
