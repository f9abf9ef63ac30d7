package lambda

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

var keyPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]+$`)

// reserved are the variables that Lambda sets itself. The credentials are
// not here: a function under test may need those of its endpoint.
var reserved = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_DEFAULT_REGION", "AWS_REGION", "AWS_EXECUTION_ENV",
	"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION",
	"AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
	"AWS_LAMBDA_RUNTIME_API", "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
}

func validateEnv(env map[string]string) error {
	size := 0
	for key, value := range env {
		switch {
		case slices.Contains(reserved, key):
			return fmt.Errorf("environment variable %s is reserved by Lambda; remove it (the region is Options.Region)", key)
		case !keyPattern.MatchString(key):
			return fmt.Errorf("environment variable %q, expected a letter, then letters, digits or underscores", key)
		case slices.Contains([]byte(value), 0):
			return fmt.Errorf("environment variable %s has a NUL byte in its value; remove it", key)
		}
		size += len(key) + len(value)
	}
	if size > maxEnvBytes {
		return fmt.Errorf("environment variables have %d bytes, expected at most %d; keep large values elsewhere", size, maxEnvBytes)
	}
	return nil
}

// environ is the whole environment of a process: Lambda's variables and the
// function's own, nothing of the runner's.
func (f Function) environ(id, region, logStream, runtimeAPI string) ([]string, error) {
	own := f.Env
	if f.EnvFor != nil {
		own = make(map[string]string)
		maps.Copy(own, f.Env)
		maps.Copy(own, f.EnvFor(id))
		if err := validateEnv(own); err != nil {
			return nil, fmt.Errorf("EnvFor %q: %w", id, err)
		}
	}
	vars := map[string]string{
		"AWS_ACCESS_KEY_ID":               "local",
		"AWS_SECRET_ACCESS_KEY":           "local",
		"AWS_SESSION_TOKEN":               "local",
		"PATH":                            "/usr/local/bin:/usr/bin:/bin:/opt/bin",
		"LANG":                            "en_US.UTF-8",
		"TZ":                              ":UTC",
		"PWD":                             f.taskRoot(),
		"_HANDLER":                        "bootstrap",
		"AWS_REGION":                      region,
		"AWS_DEFAULT_REGION":              region,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.MemoryMB),
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      logStream,
		"AWS_LAMBDA_RUNTIME_API":          runtimeAPI,
		"LAMBDA_TASK_ROOT":                f.taskRoot(),
		"LAMBDA_RUNTIME_DIR":              f.taskRoot(),
	}
	if own["AWS_ACCESS_KEY_ID"] != "" {
		delete(vars, "AWS_SESSION_TOKEN") // the dummy belongs to the dummy key
	}
	maps.Copy(vars, own)
	list := make([]string, 0, len(vars))
	for key, value := range vars {
		list = append(list, key+"="+value)
	}
	slices.Sort(list)
	return list, nil
}
