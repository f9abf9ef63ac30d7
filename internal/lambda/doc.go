// Package lambda is AWS Lambda on this machine: it runs real function binaries
// (bootstrap, built with aws-lambda-go, unchanged) as real processes behind the
// Lambda Runtime API on loopback. It is for tests and demonstrations of what
// crashes, timeouts, freezes and redeliveries do to a function; it is neither
// a sandbox nor a load generator.
//
// # Like the real service
//
//   - One invocation at a time per environment (process), up to
//     [Function.MaxEnvironments] environments at once. The most recently used
//     idle environment is taken first; above the bound a synchronous
//     invocation is throttled and an asynchronous one waits.
//   - An environment is frozen (SIGSTOP) between invocations, once it was
//     answered and has asked for the next one, and thawed (SIGCONT) by the next.
//   - At [Function.Timeout] the process is killed (SIGKILL, no clean-up, no
//     SIGTERM before). After a timeout, a crash or an exit the next invocation
//     gets a new environment. An error that the function returned leaves the
//     environment warm.
//   - Asynchronous events are tried 1 + [Function.Retries] times under one
//     request id, after 1 and 2 minutes, until [Function.MaxEventAge]; what is
//     given up goes to the dead letters. [Service.InvokeAsync] delivers an
//     event several times at once on demand, because the real service may.
//   - A function sees only Lambda's variables and its own
//     ([Function.Env]), never those of the runner.
//   - An abandoned synchronous call does not stop the invocation.
//   - The Runtime API refuses an answer to an invocation that is over.
//
// # Faults by hand
//
// [Service.Kill] is kill -9 at any moment, [Service.Freeze] stops a process in
// the middle of an invocation and [Service.Thaw] lets it go on, as a process
// that the operating system left without time would.
//
// # Not like the real service
//
//   - No limit on CPU and memory ([Function.MemoryMB] is only told to the
//     function), no file system of its own (/tmp is the machine's), no user of
//     its own, no network isolation.
//   - No extensions, layers, versions, aliases, response streaming, provisioned
//     concurrency, function URLs, X-Ray daemon or log groups: log lines go to
//     the observer.
//   - A failed or overlong init fails the invocation. The real service runs the
//     init once more within the invocation.
//   - Idle environments stay until Close. The real service ends them after
//     minutes.
//   - A throttled asynchronous event is tried as soon as an environment is
//     free. The real service tries it after 1 s to 5 minutes, growing.
//   - Queue and dead letters are in memory and end with the process.
//
// # Processes
//
// Each environment is a process group of its own; signals go to the group, by
// the ids of processes that this package started and has not yet waited for.
// On Linux the kernel kills the processes when the runner dies, kill -9
// included and frozen ones too (PR_SET_PDEATHSIG, with every fork done by one
// thread that lives as long as the Service). On macOS, which has no such
// thing, the closed Runtime API ends an idle or answering function and the
// hangup of an orphaned process group a frozen one; a working one ends with its
// invocation. Processes that a function starts itself are killed with their
// environment, but not with a killed runner. On other systems Create fails with [errors.ErrUnsupported].
//
// # Goroutines
//
// A Service has three goroutines (forks, asynchronous events, observer), an
// environment four and those of its HTTP server. All are joined by
// [Service.Close]. All methods may be used from any goroutine; the observer is
// called from one goroutine, one event at a time, and must not call Invoke,
// Idle or Close.
package lambda
