package wiring

import (
	"strings"
	"testing"
)

func TestForms(t *testing.T) {
	for name, form := range map[string]struct {
		is        func(string) bool
		yes, noes []string
	}{
		"table": {
			isTable,
			[]string{"abc", "My_table.v-2", strings.Repeat("t", 255), "arn:aws:dynamodb:eu-central-1:123456789012:table/locks", "arn:aws-us-gov:dynamodb:us-gov-west-1:1:table/abc"},
			[]string{
				"", "ab", strings.Repeat("t", 256), "a table", "täble", "a/b/c", "arn:aws:dynamodb:eu-central-1:123456789012:table/", "arn:aws:dynamodb:eu-central-1:123456789012:locks",
				"arn:aws:s3:eu-central-1:123456789012:table/locks", "arn:aws:dynamodb::123456789012:table/locks", "arn:aws:dynamodb:eu-central-1:me:table/locks",
				"arn:AWS:dynamodb:eu-central-1:1:table/locks", "arn:aws:dynamodb:eu-central-1:1:table/locks:x", "arn:aws:dynamodb:eu-central-1:1:table/locks/index/x",
			},
		},
		"attribute":  {isAttribute, []string{"p", "ttl", "größe", strings.Repeat("a", 255)}, []string{"", "with space", "tab\t", "line\n", strings.Repeat("a", 256)}},
		"region":     {isRegion, []string{"eu-central-1", "us-gov-west-1", "us-east1"}, []string{"", "eu", "Frankfurt", "eu-", "-1", "eu--1", "e1-west-1", "eu-West-1"}},
		"log format": {isLogFormat, []string{"JSON", "Text", "TEXT"}, []string{"", "json", "JSON "}},
		"log level":  {isLogLevel, []string{"DEBUG", "INFO", "WARN", "ERROR"}, []string{"", "debug", "TRACE"}},
	} {
		for _, value := range form.yes {
			if !form.is(value) {
				t.Errorf("%q is no %s", value, name)
			}
		}
		for _, value := range form.noes {
			if form.is(value) {
				t.Errorf("%q is a %s", value, name)
			}
		}
	}
}

func TestAUserIsHidden(t *testing.T) {
	for value, want := range map[string]string{
		"http://user:hunter2@a:1":      "http://***@a:1",
		"http://user:hunt@er2@a:1/x@y": "http://***@y",
		"http://@a":                    "http://***@a",
		"http://a:1":                   "http://a:1",
		"me@a//b":                      "me@a//b",
		"/@":                           "/@",
	} {
		if got := withoutUser(value); got != want {
			t.Errorf("%q becomes %q, want %q", value, got, want)
		}
	}
}
