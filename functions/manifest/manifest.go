// Package manifest is what a deployed stack says about itself: where its lock
// table, functions and queues are. The stack writes it to a parameter, and the
// operator's commands read it, so that nobody types a physical name. Standard
// library and a job's numbers only.
package manifest

import "github.com/solotick/solotick/lockkit/singleton/job"

// Manifest is the JSON in the parameter. Fields are added, never changed.
type Manifest struct {
	Table Table  `json:"table"`
	Bus   string `json:"bus"` // name of the event bus
	Jobs  []Job  `json:"jobs"`
}

// Table names the lock table and its attributes.
type Table struct {
	Name         string `json:"name"`
	PartitionKey string `json:"pk"`
	SortKey      string `json:"sk,omitempty"`
	TTLAttribute string `json:"ttl,omitempty"`
}

// Job is one deployed job.
type Job struct {
	Spec        job.Spec `json:"spec"`
	Function    string   `json:"function"`    // name of the Lambda function
	Schedule    string   `json:"schedule"`    // name of the schedule
	Logs        string   `json:"logs"`        // name of the log group
	Failed      string   `json:"failed"`      // URL of the queue with ticks that failed at every try
	Undelivered string   `json:"undelivered"` // URL of the queue with ticks that did not reach Lambda
}

// ParameterName is the name of a stack's parameter in the Parameter Store.
func ParameterName(stack string) string { return "/solotick/" + stack + "/jobs" }
