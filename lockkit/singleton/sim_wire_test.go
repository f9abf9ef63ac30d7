package singleton_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/solotick/solotick/lockkit"
)

// simFate is what befalls a request.
type simFate int

const (
	fine        simFate = iota
	fails               // 500, nothing is applied
	throttled           // nothing is applied
	conflicts           // as if another transaction were under way on the item
	swallowed           // never answered, nothing is applied
	unanswered          // applied, never answered
	broken              // applied, and the connection breaks
	slowRequest         // applied later
	slowAnswer          // applied, answered later
	late                // the connection breaks at once, and it is applied later
	comesBack           // refused for a conflict, and a copy of it is applied later; for transactions
)

var simFates = []simFate{fails, throttled, conflicts, swallowed, unanswered, broken, slowRequest, slowAnswer, late, broken, late, late, comesBack, comesBack}

func (f simFate) String() string {
	return [...]string{"fine", "fails", "throttled", "conflicts", "swallowed", "unanswered", "broken", "slow request", "slow answer", "late", "comes back"}[f]
}

// simProcess is one process: its LockTable and its way to the endpoint, of which
// it is the HTTP client. It may be killed, and frozen and thawed.
type simProcess struct {
	w     *simWorld
	id    int
	locks *lockkit.LockTable

	// Guarded by the world's mu.
	dead     bool
	thawed   chan struct{} // not nil while frozen
	troubled time.Time     // when something was last in its way
}

var (
	errGone   = errors.New("the process is gone")
	errBroken = errors.New("connection reset by peer")
)

func (w *simWorld) newProcess() *simProcess {
	p := &simProcess{w: w}
	client := dynamodb.New(dynamodb.Options{
		Region: "us-east-1", Credentials: credentials.NewStaticCredentialsProvider("sim", "sim", ""),
		HTTPClient: p, Retryer: aws.NopRetryer{}, DisableValidateResponseChecksum: true,
	})
	var err error
	if p.locks, err = lockkit.New(client, table); err != nil {
		panic(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	p.id = w.made
	return p
}

func (p *simProcess) kill() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.tell("process %d dies", p.id)
	p.dead = true
}

func (p *simProcess) freeze(d time.Duration) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.thawed != nil || p.dead {
		return
	}
	p.w.tell("process %d stands still for %s", p.id, d)
	thawed := make(chan struct{})
	p.thawed = thawed
	time.AfterFunc(d, func() {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		p.w.tell("process %d goes on", p.id)
		p.thawed, p.troubled = nil, time.Now()
		close(thawed)
	})
}

// gate holds up a process that is frozen. A dead one waits for the world's end.
func (p *simProcess) gate() bool {
	for {
		p.w.mu.Lock()
		dead, thawed := p.dead, p.thawed
		p.w.mu.Unlock()
		switch {
		case dead:
			<-p.w.over
			return false
		case thawed == nil:
			return true
		}
		<-thawed
	}
}

type simAnswer struct {
	resp *http.Response
	err  error
}

// Do sends one request. It goes its own way; the process waits for the answer for
// as long as the request's ctx lasts.
func (p *simProcess) Do(req *http.Request) (*http.Response, error) {
	if !p.gate() {
		return nil, errGone
	}
	_, operation, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	hurt := p.w.befalls(p, operation)
	answers := make(chan simAnswer, 1)
	p.w.wires.Go(func() { answers <- p.carry(req, operation, body, hurt) })
	var a simAnswer
	select {
	case a = <-answers:
	case <-req.Context().Done():
		a.err = req.Context().Err()
	}
	if !p.gate() {
		return nil, errGone
	}
	if hurt.Kind != fine || a.err != nil {
		p.w.mu.Lock()
		p.troubled = time.Now()
		p.w.mu.Unlock()
	}
	return a.resp, a.err
}

const simLatency = 5 * time.Millisecond

// carry takes a request to the endpoint, and its answer back.
func (p *simProcess) carry(req *http.Request, operation string, body []byte, hurt simFault) simAnswer {
	time.Sleep(simLatency)
	never := func() simAnswer {
		select {
		case <-req.Context().Done():
		case <-p.w.over:
		}
		return simAnswer{err: errBroken}
	}
	apply := func() simAnswer { return p.w.apply(p, req, operation, body) }
	switch hurt.Kind {
	case fails:
		return failure(http.StatusInternalServerError, "InternalServerError", "")
	case throttled:
		return failure(http.StatusBadRequest, "ProvisionedThroughputExceededException", "")
	case conflicts:
		return conflictWith(operation, body)
	case swallowed:
		return never()
	case unanswered:
		apply()
		return never()
	case broken:
		apply()
		return simAnswer{err: errBroken}
	case late:
		p.w.wires.Go(func() {
			time.Sleep(hurt.Wait)
			apply()
		})
		return simAnswer{err: errBroken}
	case comesBack:
		if operation != "TransactWriteItems" {
			break
		}
		p.w.wires.Go(func() {
			time.Sleep(hurt.Wait)
			apply()
		})
		return conflictWith(operation, body)
	case slowRequest:
		time.Sleep(hurt.Wait)
	default:
	}
	a := apply()
	if hurt.Kind == slowAnswer {
		time.Sleep(hurt.Wait)
	}
	time.Sleep(simLatency)
	return a
}

func failure(status int, code, more string) simAnswer {
	body := `{"__type":"com.amazonaws.dynamodb.v20120810#` + code + `","message":"simulated"` + more + `}`
	return simAnswer{resp: &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}}
}

// conflictWith is the answer while another transaction is under way on the item.
func conflictWith(operation string, body []byte) simAnswer {
	switch operation {
	case "UpdateItem":
		return failure(http.StatusBadRequest, "TransactionConflictException", "")
	case "TransactWriteItems":
		var in struct{ TransactItems []json.RawMessage }
		if err := json.Unmarshal(body, &in); err != nil {
			panic(err)
		}
		reasons := strings.Repeat(`,{"Code":"None"}`, len(in.TransactItems)-1)
		return failure(http.StatusBadRequest, "TransactionCanceledException", `,"CancellationReasons":[{"Code":"TransactionConflict"}`+reasons+`]`)
	default:
		return failure(http.StatusBadRequest, "ThrottlingException", "")
	}
}

// again is a request whatever becomes of its sender.
func again(req *http.Request, body []byte) *http.Request {
	copied := req.Clone(context.WithoutCancel(req.Context()))
	copied.Body = io.NopCloser(bytes.NewReader(body))
	return copied
}
