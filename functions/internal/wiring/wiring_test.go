package wiring

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func environment(changes map[string]string) func(string) (string, bool) {
	values := map[string]string{
		"SOLOTICK_LOCK_TABLE":        "locks",
		"AWS_REGION":                 "eu-central-1",
		"AWS_ACCESS_KEY_ID":          "AKIDEXAMPLE",
		"AWS_SECRET_ACCESS_KEY":      "secret",
		"AWS_SESSION_TOKEN":          "session",
		"AWS_LAMBDA_FUNCTION_NAME":   "order-sweeper",
		"AWS_LAMBDA_LOG_STREAM_NAME": "2026/12/01/[$LATEST]58419525dade4d17a495dceeeed44708",
	}
	maps.Copy(values, changes)
	return func(name string) (string, bool) {
		value, ok := values[name]
		return value, ok
	}
}

func TestLoadMakesTheParts(t *testing.T) {
	var orders string
	_, err := load(environment(nil), []Variable{Table("ORDERS", "with the orders", &orders)})
	if err == nil || !strings.Contains(err.Error(), "ORDERS is not set") {
		t.Errorf("a function's own variable is missing: got %v", err)
	}
	app, err := load(environment(map[string]string{"ORDERS": "orders"}), []Variable{Table("ORDERS", "with the orders", &orders)})
	if err != nil {
		t.Fatal(err)
	}
	if orders != "orders" || app.Locks.Table() != "locks" || app.DynamoDB == nil || app.Logger == nil {
		t.Errorf("orders %q, app %+v", orders, app)
	}
	if got := app.Locks.HolderLabel(); got != "2026/12/01/[$LATEST]58419525dade4d17a495dceeeed44708" {
		t.Errorf("holder label %q, expected the log stream", got)
	}
}

func TestOneErrorNamesEverythingThatIsWrong(t *testing.T) {
	_, err := load(environment(map[string]string{
		"SOLOTICK_LOCK_TABLE":         "",
		"SOLOTICK_LOCK_PARTITION_KEY": "with space",
		"AWS_REGION":                  "Frankfurt",
		"AWS_SECRET_ACCESS_KEY":       "",
		"DYNAMODB_ENDPOINT":           "localhost:8000",
	}), nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"5 variables",
		"SOLOTICK_LOCK_TABLE is not set: expected the name or ARN of the table that holds the locks; set it",
		`SOLOTICK_LOCK_PARTITION_KEY is "with space"`,
		`AWS_REGION is "Frankfurt"`, "such as eu-central-1",
		"AWS_SECRET_ACCESS_KEY is not set",
		`DYNAMODB_ENDPOINT is "localhost:8000"`, "such as http://127.0.0.1:8000",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
}

func TestAWrongValueIsRefusedWithWhatToDo(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"AWS_LAMBDA_LOG_LEVEL", "LOUD", `AWS_LAMBDA_LOG_LEVEL is "LOUD" (it has another form): expected DEBUG, INFO, WARN or ERROR, in capitals; correct the function's logging configuration`},
		{"AWS_LAMBDA_LOG_LEVEL", "debug", `AWS_LAMBDA_LOG_LEVEL is "debug"`},
		{"AWS_LAMBDA_LOG_FORMAT", "XML", `AWS_LAMBDA_LOG_FORMAT is "XML" (it has another form): expected JSON or Text; correct the function's logging configuration`},
		{"AWS_LAMBDA_LOG_FORMAT", "json", `AWS_LAMBDA_LOG_FORMAT is "json"`},
		{"DYNAMODB_ENDPOINT", "http://a:1/?x=y", `DYNAMODB_ENDPOINT is "http://a:1/?x=y" (it has a query or a fragment, which no request would carry): expected a URL such as http://127.0.0.1:8000, without user, query or fragment; correct it`},
		{"DYNAMODB_ENDPOINT", "http://a:1?", `DYNAMODB_ENDPOINT is "http://a:1?" (it has a query`},
		{"AWS_ENDPOINT_URL_DYNAMODB", "http://a:1/#x", `AWS_ENDPOINT_URL_DYNAMODB is "http://a:1/#x" (it has a query or a fragment`},
		{"AWS_ENDPOINT_URL", "http://user:hunter2@a:1", `AWS_ENDPOINT_URL is "http://***@a:1" (it has a user, and requests are signed`},
		{"DYNAMODB_ENDPOINT", "http://user:hunter2%@a:1", `DYNAMODB_ENDPOINT is "http://***@a:1" (not a URL`},
		{"DYNAMODB_ENDPOINT", "http://:8000", `DYNAMODB_ENDPOINT is "http://:8000" (not a URL with http or https and a host)`},
	} {
		_, err := load(environment(map[string]string{test.name: test.value}), nil)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: got %v, expected %s", test.name, test.value, err, test.want)
		}
	}
}

func TestWhatLambdaSetsForLoggingIsTaken(t *testing.T) {
	for name, values := range map[string][]string{
		"AWS_LAMBDA_LOG_LEVEL":  {"", "DEBUG", "INFO", "WARN", "ERROR"},
		"AWS_LAMBDA_LOG_FORMAT": {"", "JSON", "Text", "TEXT"},
	} {
		for _, value := range values {
			if _, err := load(environment(map[string]string{name: value}), nil); err != nil {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
}

func TestASecretIsNotShown(t *testing.T) {
	refuse := Variable{Name: "SECRET", Want: "another", Fix: "change it", Secret: true, Set: func(string) error { return io.EOF }}
	_, err := load(environment(map[string]string{"SECRET": "hunter2"}), []Variable{refuse})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "SECRET is a value of 7 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestSettings(t *testing.T) {
	tests := map[string]struct {
		changes map[string]string
		check   func(s settings) bool
	}{
		"default keys":               {nil, func(s settings) bool { return s.partitionKey == "pk" && s.sortKey == "sk" }},
		"keys":                       {map[string]string{"SOLOTICK_LOCK_PARTITION_KEY": "id", "SOLOTICK_LOCK_SORT_KEY": "part"}, func(s settings) bool { return s.partitionKey == "id" && s.sortKey == "part" }},
		"no sort key":                {map[string]string{"SOLOTICK_LOCK_SORT_KEY": "none"}, func(s settings) bool { return s.sortKey == "" }},
		"time to live":               {map[string]string{"SOLOTICK_LOCK_TTL_ATTRIBUTE": "ttl"}, func(s settings) bool { return s.ttl == "ttl" }},
		"no endpoint":                {nil, func(s settings) bool { return s.endpoint == "" }},
		"the first endpoint counts":  {map[string]string{"AWS_ENDPOINT_URL": "http://a:1", "AWS_ENDPOINT_URL_DYNAMODB": "http://b:2/", "DYNAMODB_ENDPOINT": "http://c:3"}, func(s settings) bool { return s.endpoint == "http://c:3" }},
		"the service's endpoint":     {map[string]string{"AWS_ENDPOINT_URL": "http://a:1", "AWS_ENDPOINT_URL_DYNAMODB": "http://b:2/"}, func(s settings) bool { return s.endpoint == "http://b:2" }},
		"the general endpoint":       {map[string]string{"AWS_ENDPOINT_URL": "http://a:1"}, func(s settings) bool { return s.endpoint == "http://a:1" }},
		"label without a log stream": {map[string]string{"AWS_LAMBDA_LOG_STREAM_NAME": ""}, func(s settings) bool { return s.label() == "order-sweeper" }},
		"table by ARN": {
			map[string]string{"SOLOTICK_LOCK_TABLE": "arn:aws:dynamodb:eu-central-1:123456789012:table/locks"},
			func(s settings) bool { return strings.HasSuffix(s.lockTable, "table/locks") },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var s settings
			if err := read(environment(test.changes), s.variables()); err != nil {
				t.Fatal(err)
			}
			if !test.check(s) {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func TestAURLIsTakenWithAQueryAndWithoutAUser(t *testing.T) {
	for value, want := range map[string]string{
		"https://example.com/document?key=x": "",
		"http://127.0.0.1:8000":              "",
		"example.com":                        "not a URL",
		"ftp://example.com":                  "not a URL",
		"https://:8000/":                     "not a URL",
		"https://user:hunter2@example.com":   "it has a user",
		"https://example.com/#part":          "it has a fragment",
	} {
		var got string
		_, err := load(environment(map[string]string{"SOURCE": value}), []Variable{URL("SOURCE", "to read from", &got)})
		if want == "" {
			if err != nil || got != value {
				t.Errorf("%s: %q, %v", value, got, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "expected the URL to read from") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, expected %s", value, err, want)
		}
	}
}

// What net/http must not see, and who sent the request.
func TestTheClientHidesTheBodysWriteToAndNamesItsEnvironment(t *testing.T) {
	var agent, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, _ := io.ReadAll(r.Body)
		agent, body = r.UserAgent(), string(read)
	}))
	defer server.Close()

	writerTo := false
	client := plainBodies{doer(func(r *http.Request) (*http.Response, error) {
		_, writerTo = r.Body.(io.WriterTo)
		return http.DefaultClient.Do(r)
	})}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, io.NopCloser(strings.NewReader("{}")))
	if err != nil {
		t.Fatal(err)
	}
	if _, is := r.Body.(io.WriterTo); !is {
		t.Fatal("the test's own body has no WriteTo, so it shows nothing")
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if writerTo || body != "{}" {
		t.Errorf("WriteTo is visible: %v; the server read %q", writerTo, body)
	}

	app, err := load(environment(map[string]string{"DYNAMODB_ENDPOINT": server.URL}), nil)
	if err != nil {
		t.Fatal(err)
	}
	app.Locks.State(t.Context(), "any")
	if want := "app/solotick-58419525dade4d17a495dceeeed44708"; !strings.Contains(agent, want) {
		t.Errorf("user agent %q, expected it to have %q", agent, want)
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }
