// Package environment makes, from what Lambda sets, what the measured handlers
// share: the client that the functions make too, and the lock. Nothing is checked
// but what they cannot do without; a mistake would be the benchmark's own.
package environment

import (
	"context"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// The lock that the handlers take, and the variable that names its table.
const (
	Table = "SOLOTICK_LOCK_TABLE"
	Name  = "nightly-report"
	Lease = 30 * time.Second
)

// Client is a DynamoDB client without the SDK's config package, as the functions
// have it. It sends no request and never fails; a wrong environment shows with
// the first request.
func Client() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       os.Getenv("AWS_REGION"),
		BaseEndpoint: aws.String(os.Getenv("DYNAMODB_ENDPOINT")),
		HTTPClient:   awshttp.NewBuildableClient(),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{
				AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
				SessionToken: os.Getenv("AWS_SESSION_TOKEN"), Source: "LambdaEnvironment",
			}, nil
		}),
	})
}
