package watchdog

import "time"

// Kind is what a check asks.
type Kind string

// The kinds of checks, by the word before the colon.
const (
	HTTP   Kind = "http"   // http://…, http+unix:…
	TCP    Kind = "tcp"    // tcp:HOST:PORT
	Unix   Kind = "unix"   // unix:PATH
	Exec   Kind = "exec"   // exec:CMD
	Notify Kind = "notify" // the child's own READY=1 or WATCHDOG=1
)

// OnUnhealthy is what follows when a live check reaches its failure threshold.
type OnUnhealthy string

// The answers to an unhealthy service; Inherit is svcrun's own --on-unhealthy.
const (
	Inherit OnUnhealthy = ""
	Drain   OnUnhealthy = "drain"
	Abort   OnUnhealthy = "abort"
	Report  OnUnhealthy = "report"
)

// Defaults of every check (svckit-policy(5)).
const (
	DefaultInterval  = 10 * time.Second
	DefaultTimeout   = 2 * time.Second
	DefaultFailures  = 3
	DefaultSuccesses = 1
)

// Check is one health check as the user wrote it, validated and complete.
type Check struct {
	Kind        Kind
	Target      string        // a URL with its scheme, HOST:PORT, a path or a command line
	Interval    time.Duration // between the starts of two probes
	Timeout     time.Duration // of one probe; at most Interval
	Failures    int           // in a row, until unhealthy
	Successes   int           // in a row, until it holds
	OnUnhealthy OnUnhealthy
	HTTP        HTTPOptions // of Kind HTTP only
}

// HTTPOptions are what an HTTP check may say beyond its URL. The zero value
// asks with GET and takes 2xx and 3xx.
type HTTPOptions struct {
	Method     string   // GET where empty
	Status     string   // "2xx+304"; 2xx and 3xx where empty
	Headers    []string // "Name: value"
	HeaderFile string   // a file of "Name: value" lines, read at each probe
	Host       string   // the Host header
	Body       string   // a regular expression that the body's first 64 KiB must match
}
