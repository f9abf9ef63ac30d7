package wiring

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Variable is one environment variable that a function reads at cold start.
type Variable struct {
	Name string
	// Want says what the value must be and Fix what to do about a wrong one;
	// both are parts of a sentence.
	Want, Fix string
	// Optional: it may be missing. An empty value counts as missing.
	Optional bool
	// Secret keeps the value out of errors.
	Secret bool
	// Set takes a value that is there, and refuses a wrong one by an error that
	// need not repeat what the other fields say.
	Set func(value string) error
}

// show is the value as an error may have it: without a secret, and without the
// user and password that a URL may carry.
func (v Variable) show(value string) string {
	if v.Secret {
		return fmt.Sprintf("a value of %d bytes", len(value))
	}
	return fmt.Sprintf("%q", withoutUser(value))
}

// Table is a Variable for the name or ARN of a table.
func Table(name, what string, into *string) Variable {
	return Variable{
		Name: name,
		Want: "the name or ARN of the table " + what,
		Fix:  "set it in the function's environment",
		Set:  matching(isTable, into),
	}
}

// URL is a Variable for the address of an HTTP service. It may have a query, but
// no user: a password in it would show in every error that names the address.
func URL(name, what string, into *string) Variable {
	return Variable{
		Name: name,
		Want: "the URL " + what + ", with http or https and without a user or a fragment",
		Fix:  "set it in the function's environment",
		Set: func(value string) error {
			u, err := url.Parse(value)
			switch {
			case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
				return errors.New("not a URL with http or https and a host")
			case u.User != nil:
				return errors.New("it has a user")
			case strings.Contains(value, "#"):
				return errors.New("it has a fragment, which no request would carry")
			}
			*into = value
			return nil
		},
	}
}

// settings is the environment, read. The zero value has nothing set.
type settings struct {
	lockTable, partitionKey, sortKey, ttl string
	endpoint, region                      string
	keyID, secret, session                string
	logStream, function                   string
}

const (
	inConfiguration = "set it in the function's environment, as the stack does"
	byLambda        = "Lambda sets it; set it yourself when the binary runs elsewhere"
	byLogging       = "correct the function's logging configuration, from which Lambda sets it, or remove it elsewhere"
)

// variables lists what the package itself reads, in the order of its comment.
func (s *settings) variables() []Variable {
	s.partitionKey, s.sortKey = "pk", "sk"
	sortKey := func(value string) error {
		if value == "none" {
			s.sortKey = ""
			return nil
		}
		return matching(isAttribute, &s.sortKey)(value)
	}
	const anAttribute = "the name of a key attribute, up to 255 bytes without spaces"
	list := []Variable{
		Table("SOLOTICK_LOCK_TABLE", "that holds the locks", &s.lockTable),
		{Name: "SOLOTICK_LOCK_PARTITION_KEY", Want: anAttribute, Fix: inConfiguration, Optional: true, Set: matching(isAttribute, &s.partitionKey)},
		{Name: "SOLOTICK_LOCK_SORT_KEY", Want: anAttribute + `, or "none"`, Fix: inConfiguration, Optional: true, Set: sortKey},
		{Name: "SOLOTICK_LOCK_TTL_ATTRIBUTE", Want: "the name of the table's time-to-live attribute", Fix: inConfiguration, Optional: true, Set: matching(isAttribute, &s.ttl)},
	}
	for _, name := range []string{"DYNAMODB_ENDPOINT", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"} {
		list = append(list, Variable{
			Name: name, Want: "a URL such as http://127.0.0.1:8000, without user, query or fragment", Fix: "correct it, or remove it to use AWS's endpoint",
			Optional: true, Set: s.setEndpoint,
		})
	}
	return append(list,
		Variable{Name: "AWS_REGION", Want: "an AWS Region such as eu-central-1", Fix: byLambda, Set: matching(isRegion, &s.region)},
		Variable{Name: "AWS_ACCESS_KEY_ID", Want: "an access key id", Fix: byLambda, Set: matching(isAnything, &s.keyID)},
		Variable{Name: "AWS_SECRET_ACCESS_KEY", Want: "the secret of that key", Fix: byLambda, Secret: true, Set: matching(isAnything, &s.secret)},
		Variable{Name: "AWS_SESSION_TOKEN", Optional: true, Secret: true, Set: matching(isAnything, &s.session)},
		Variable{Name: "AWS_LAMBDA_LOG_STREAM_NAME", Optional: true, Set: matching(isAnything, &s.logStream)},
		Variable{Name: "AWS_LAMBDA_FUNCTION_NAME", Optional: true, Set: matching(isAnything, &s.function)},
		// lambdacontext reads these two itself and takes INFO and text for all it
		// does not know.
		Variable{Name: "AWS_LAMBDA_LOG_FORMAT", Want: "JSON or Text", Fix: byLogging, Optional: true, Set: matching(isLogFormat, new(string))},
		Variable{Name: "AWS_LAMBDA_LOG_LEVEL", Want: "DEBUG, INFO, WARN or ERROR, in capitals", Fix: byLogging, Optional: true, Set: matching(isLogLevel, new(string))},
	)
}

// setEndpoint keeps the first of the variables that name one.
func (s *settings) setEndpoint(value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("not a URL with http or https and a host")
	}
	if u.User != nil {
		return errors.New("it has a user, and requests are signed with the role's keys")
	}
	if strings.ContainsAny(value, "?#") {
		return errors.New("it has a query or a fragment, which no request would carry")
	}
	if s.endpoint == "" {
		s.endpoint = strings.TrimSuffix(value, "/")
	}
	return nil
}

func matching(form func(string) bool, into *string) func(string) error {
	return func(value string) error {
		if !form(value) {
			return errors.New("it has another form")
		}
		*into = value
		return nil
	}
}

// read sets every variable and returns one error for all that are missing or
// wrong, or nil.
func read(lookup func(string) (string, bool), variables []Variable) error {
	var faults []string
	for _, v := range variables {
		value, _ := lookup(v.Name)
		switch {
		case value == "" && v.Optional:
		case value == "":
			faults = append(faults, fmt.Sprintf("%s is not set: expected %s; %s", v.Name, v.Want, v.Fix))
		default:
			if err := v.Set(value); err != nil {
				faults = append(faults, fmt.Sprintf("%s is %s (%v): expected %s; %s", v.Name, v.show(value), err, v.Want, v.Fix))
			}
		}
	}
	switch len(faults) {
	case 0:
		return nil
	case 1:
		return errors.New("the environment is not usable: " + faults[0])
	default:
		return fmt.Errorf("the environment is not usable, %d variables are wrong:\n\t%s", len(faults), strings.Join(faults, "\n\t"))
	}
}
