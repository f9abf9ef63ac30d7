//go:build bench

package bench

import (
	"bytes"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// canned is an endpoint that does nothing but answer: every acquire finds a free
// lock, and every other write succeeds. Whatever is measured against it is the
// client's.
type canned struct {
	wait     time.Duration // before each answer
	requests atomic.Int64
}

// The two answers, with the checksum that the SDK compares: without one that fits
// it makes an error for every answer, and the numbers are noise.
var (
	free    = newAnswer(`{"Attributes":{"pk":{"S":"LOCK#nightly-report"},"sk":{"S":"LOCK"},"_type":{"S":"LOCK"},"rvn":{"S":"BC4XPMR2HYVSOQLJWJ3E7ZTG5I"},"fence":{"N":"1900000000000"}}}`)
	nothing = newAnswer(`{}`)
	askOld  = []byte(`"ReturnValues":"ALL_OLD"`) // an acquire asks for the item before it
)

type answer struct {
	body   []byte
	header http.Header
}

func newAnswer(body string) answer {
	return answer{[]byte(body), http.Header{
		"Content-Type":     {"application/x-amz-json-1.0"},
		"Content-Length":   {strconv.Itoa(len(body))},
		"X-Amz-Crc32":      {strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10)},
		"X-Amzn-Requestid": {"4KBNVRGD0RG1KEHJF66Q9ASUAAJG"},
	}}
}

// Do answers without a socket, so that no kernel is measured either.
func (c *canned) Do(req *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if c.wait > 0 {
		if err := pause(req.Context(), c.wait); err != nil {
			return nil, err
		}
	}
	a := nothing
	if bytes.Contains(body, askOld) {
		a = free
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}, nil
}

// clientOf is a client of the SDK as a user makes one, with its standard retryer.
func clientOf(endpoint dynamodb.HTTPClient) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:      "eu-central-1",
		Credentials: credentials.NewStaticCredentialsProvider("bench", "bench", ""),
		HTTPClient:  endpoint,
	})
}
