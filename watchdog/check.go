package watchdog

import "time"

// Kind is what a check asks.
type Kind string

// The kinds of checks, by the word before the colon.
const (
	HTTP   Kind = "http"   // http://…, https://…, http+unix:…
	TCP    Kind = "tcp"    // tcp:HOST:PORT
	Listen Kind = "listen" // listen:PORT, listen:ADDRESS:PORT
	Unix   Kind = "unix"   // unix:PATH
	GRPC   Kind = "grpc"   // grpc:HOST:PORT[/SERVICE]
	Exec   Kind = "exec"   // exec:CMD
	File   Kind = "file"   // file:PATH
	Memory Kind = "memory" // memory:SIZE
	Notify Kind = "notify" // the child's own READY=1 or WATCHDOG=1
	FD     Kind = "fd"     // fd:N, a newline that the child writes to descriptor N; ready only
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
	Target      string        // what follows the kind; of HTTP, a URL with its scheme
	Interval    time.Duration // between the starts of two probes
	Timeout     time.Duration // of one probe; at most Interval
	Failures    int           // in a row, until unhealthy
	Successes   int           // in a row, until it holds
	OnUnhealthy OnUnhealthy
	Owned       bool          // of HTTP, TCP and Unix: what listens there has to be the service
	MaxAge      time.Duration // of File: since it was last touched; 0 for any
	Peak        bool          // of Memory: the most that was ever used counts
	HTTP        HTTPOptions   // of HTTP
}

// Spoken says that the service itself answers such a check: it is never probed.
func (k Kind) Spoken() bool { return k == Notify || k == FD }

// ReadyOnly says that such a check can tell of the start only.
func (k Kind) ReadyOnly() bool { return k == FD }

// HTTPOptions are what an HTTP check may say beyond its URL. The zero value
// asks with GET and takes 2xx and 3xx.
type HTTPOptions struct {
	Method     string   // GET where empty
	Status     string   // "2xx+304"; 2xx and 3xx where empty
	Headers    []string // "Name: value"
	HeaderFile string   // a file of "Name: value" lines, read at each probe
	Host       string   // the Host header; of https, whose certificate is wanted too
	Body       string   // a regular expression that the body's first 64 KiB must match
	Insecure   bool     // of https: any certificate will do
}
