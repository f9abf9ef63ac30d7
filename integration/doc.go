// Package integration holds the tests that need real sockets and real time: the
// conformance suite, and what networks do to connections, names and answers. They
// are behind the build tag integration, so that `go test ./...` stays quick.
//
// They run against the in-memory DynamoDB of locktest, behind a socket of its own,
// or against another implementation:
//
//	dynoxide --port 8000 &
//	export DYNAMODB_ENDPOINT=http://localhost:8000 DYNAMODB_IMPLEMENTATION=dynoxide
//	go test -tags integration ./integration/...
package integration
