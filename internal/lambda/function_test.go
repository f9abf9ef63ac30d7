package lambda_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	awslambda "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// role makes the test binary something else than a test: the function under
// test, or a runner that gets killed.
const role = "TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "function":
		awslambda.Start(handle)
	case "runner":
		runRunner()
	case "init error":
		reportInitError()
		os.Exit(1)
	case "init error, no exit":
		reportInitError()
		select {}
	case "init exit":
		fmt.Println("cannot go on")
		os.Exit(7)
	case "init hang":
		time.Sleep(time.Hour)
	case "exit after answer":
		answerAndExit()
	default:
		os.Exit(99)
	}
}

// command is what the function is asked to do.
type command struct {
	Do     string
	Text   string
	Number int
	Millis int
}

// answer is what it answers.
type answer struct {
	PID      int
	Text     string
	Calls    int // of this process
	Env      []string
	Function string
	Request  string
	ARN      string
	Left     time.Duration // until the deadline
}

var (
	calls     int
	callsByID sync.Map
)

func handle(ctx context.Context, c command) (answer, error) {
	calls++
	request, _ := lambdacontext.FromContext(ctx)
	a := answer{PID: os.Getpid(), Text: c.Text, Calls: calls, Request: request.AwsRequestID}
	switch c.Do {
	case "", "echo":
	case "describe":
		deadline, _ := ctx.Deadline()
		a.Env, a.Function, a.ARN, a.Left = os.Environ(), lambdacontext.FunctionName, request.InvokedFunctionArn, time.Until(deadline)
		a.Text, _ = os.Getwd()
	case "sleep": // ignores ctx
		fmt.Println("sleeping")
		time.Sleep(time.Duration(c.Millis) * time.Millisecond)
		fmt.Println("slept")
	case "panic":
		panic(c.Text)
	case "exit":
		os.Exit(c.Number)
	case "fail":
		return a, errors.New(c.Text)
	case "fail times": // by request id: a retry has that of the first attempt
		seen, _ := callsByID.LoadOrStore(request.AwsRequestID, new(int))
		count := seen.(*int)
		*count++
		if *count <= c.Number {
			return a, fmt.Errorf("failure %d", *count)
		}
	case "print":
		for i := range c.Number {
			fmt.Printf("out %d %s\n", i, c.Text)
			fmt.Fprintf(os.Stderr, "err %d\n", i)
		}
	case "print long":
		fmt.Println(strings.Repeat("x", c.Number))
		fmt.Print("no end of line")
	case "answer large":
		a.Text = strings.Repeat("x", c.Number)
	case "child":
		child := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sleep", "3600")
		if err := child.Start(); err != nil {
			return a, err
		}
		a.Calls = child.Process.Pid
	case "daemon": // leaves the process group and keeps the output open
		child := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sleep", "3")
		child.Stdout = os.Stdout
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			return a, err
		}
		os.Exit(3)
	default:
		return a, fmt.Errorf("unknown command %q", c.Do)
	}
	return a, nil
}

const runtimePath = "/2018-06-01/runtime/"

// request is one call of a Runtime API; without an answer it is nil.
func request(method, address, path, body string) *http.Response {
	r, err := http.NewRequestWithContext(context.Background(), method, "http://"+address+runtimePath+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response
}

// post returns the status, or 0 if there is no answer.
func post(address, path, body string) int {
	if response := request(http.MethodPost, address, path, body); response != nil {
		return response.StatusCode
	}
	return 0
}

func runtimePost(path, body string) int {
	return post(os.Getenv("AWS_LAMBDA_RUNTIME_API"), path, body)
}

func runtimeNext() *http.Response {
	return request(http.MethodGet, os.Getenv("AWS_LAMBDA_RUNTIME_API"), "invocation/next", "")
}

func reportInitError() {
	fmt.Println("init error answered with", runtimePost("init/error", `{"errorType":"Config.Missing","errorMessage":"TABLE is not set"}`))
}

// answerAndExit is a runtime that ends after its answer.
func answerAndExit() {
	id := runtimeNext().Header.Get("Lambda-Runtime-Aws-Request-Id")
	fmt.Println("answer to a stranger:", runtimePost("invocation/stranger/response", `{}`))
	fmt.Println("init error:", runtimePost("init/error", `{}`))
	fmt.Println("next before the answer:", runtimeNext().StatusCode)
	fmt.Println("answer:", runtimePost("invocation/"+id+"/response", `"first"`))
	fmt.Println("second answer:", runtimePost("invocation/"+id+"/response", `"second"`))
	fmt.Println("error after the answer:", runtimePost("invocation/"+id+"/error", `{}`))
	os.Exit(0)
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
