// Package locktest is an in-memory DynamoDB for tests.
package locktest
