package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const (
	// answerWithin is far above what any of the scenario's requests takes.
	answerWithin = 10 * time.Second
	// lostAfter is how many requests in a row may fail: as many as the SDK tries
	// for one call, so that what a retry can mend does not end the scenario.
	lostAfter = 3
	// wayOut is what to do about an endpoint that will not do.
	wayOut = "expected the URL of a DynamoDB, such as http://127.0.0.1:8000 of DynamoDB Local; start one there, correct the variable, or unset it to use a DynamoDB in memory"
)

// upstream is a DynamoDB that the user named by DYNAMODB_ENDPOINT.
type upstream struct {
	url    *url.URL
	lost   func(error)  // told why, when it does not answer any more
	failed atomic.Int32 // requests in a row
}

// findUpstream checks that a DynamoDB answers at the URL: it asks for a table
// that is not there.
func findUpstream(ctx context.Context, value, table string, lost func(error)) (*upstream, error) {
	if strings.Contains(value, "@") { // not shown, a password may be in it
		return nil, errors.New("DYNAMODB_ENDPOINT has an @, as a URL with a user name or a password: it takes neither; " + wayOut)
	}
	target, err := url.Parse(value)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, fmt.Errorf("DYNAMODB_ENDPOINT is %q: %s", value, wayOut)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	out, err := newClient(value).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
	})
	if _, absent := errors.AsType[*types.ResourceNotFoundException](err); absent || err == nil && out.Table != nil {
		return &upstream{url: target, lost: lost}, nil
	}
	return nil, fmt.Errorf("DYNAMODB_ENDPOINT is %s, and what is there does not answer as a DynamoDB (%s): %s", value, reasonOf(err), wayOut)
}

// newClient is the runner's own.
func newClient(endpoint string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: region, BaseEndpoint: aws.String(endpoint), AppID: runner,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// reasonOf says in a few words why a request failed: the SDK's own sentence is
// about the SDK.
func reasonOf(err error) string {
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() != "UnknownError" {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	if sending, ok := errors.AsType[*url.Error](err); ok {
		return sending.Err.Error()
	}
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		return fmt.Sprintf("its answer has status %d and is of another kind", response.HTTPStatusCode())
	}
	if err == nil {
		return "its answer is empty"
	}
	return err.Error()
}

// handler passes requests on. What comes back is read to its end here, so that
// an endpoint that dies within an answer fails like one that gives none.
func (u *upstream) handler(transport http.RoundTripper) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(u.url) },
		Transport: transport,
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // told by unanswered, once
		ModifyResponse: func(r *http.Response) error {
			body, err := io.ReadAll(r.Body)
			if err = errors.Join(err, r.Body.Close()); err != nil {
				return err
			}
			u.failed.Store(0)
			r.Body = io.NopCloser(bytes.NewReader(body))
			return nil
		},
		ErrorHandler: u.unanswered,
	}
}

// impatient is the transport to an upstream. It ends a request to one that hangs.
func impatient() http.RoundTripper {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       answerWithin,
		TLSHandshakeTimeout:   answerWithin,
		ResponseHeaderTimeout: answerWithin,
	}
}

// unanswered tells the sender as DynamoDB would that its request failed.
func (u *upstream) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil && u.failed.Add(1) == lostAfter { // else the sender is gone, killed perhaps
		u.lost(fmt.Errorf("%w: DYNAMODB_ENDPOINT is %s, which has stopped answering (%w): start it again and then the scenario, or unset the variable to use a DynamoDB in memory", ErrSetup, u.url, err))
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(http.StatusBadGateway)
	_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"the endpoint behind this one does not answer"}`) // or the sender is gone
}
