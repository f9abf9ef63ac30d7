// Package integration holds the tests that need what is not in this module, such
// as another implementation of DynamoDB. They are behind the build tag
// integration, so that `go test ./...` needs nothing but Go:
//
//	dynoxide --port 8000 &
//	export DYNAMODB_ENDPOINT=http://localhost:8000 DYNAMODB_IMPLEMENTATION=dynoxide
//	go test -tags integration ./integration/...
package integration
