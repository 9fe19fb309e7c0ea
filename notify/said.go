package notify

import (
	"strconv"
	"time"
)

// ReloadKey asks a wrapper to reload its service. It comes with one descriptor,
// which is answered on, and is the wrapper's own: it never goes on.
const ReloadKey = "X_SVCKIT_RELOAD"

// Said is what a service's message means to a wrapper that stands between it
// and the manager: what the wrapper answers for itself, and what goes on.
type Said struct {
	Ready        bool
	Stopping     bool
	Reloading    bool
	Alive        bool          // WATCHDOG=1
	Trigger      bool          // WATCHDOG=trigger, which is in Forward as well
	Status       string        // STATUS=, where HasStatus
	HasStatus    bool          // an empty STATUS= clears it
	WatchdogTime time.Duration // WATCHDOG_USEC=, 0 where not said
	Extend       time.Duration // EXTEND_TIMEOUT_USEC=, 0 where not said
	MainPID      int           // MAINPID=, 0 where not said
	Barrier      bool          // BARRIER=1, alone in its datagram
	Stores       bool          // FDSTORE=1: descriptors go on with Forward
	Reload       bool          // a request to reload, by svcrun reload
	Forward      Message       // goes on to the manager as it is
	Refused      []string      // keys that a wrapper must not pass on, for a warning
}

// Sort reads a service's message for a wrapper. NOTIFYACCESS= is refused: the
// service must not open the manager's door behind its wrapper. MAINPID= is the
// wrapper's own business: it stays the unit's main process. Keys that nobody
// knows go on, as the manager ignores them or a newer one knows them.
func Sort(m Message) Said {
	var s Said
	for _, f := range m {
		switch f.Key {
		case "READY":
			s.Ready = s.Ready || f.Value == "1"
		case "STOPPING":
			s.Stopping = s.Stopping || f.Value == "1"
		case "RELOADING":
			s.Reloading = s.Reloading || f.Value == "1"
		case "STATUS":
			s.Status, s.HasStatus = f.Value, true
		case "WATCHDOG":
			s.watchdog(f)
		case "WATCHDOG_USEC":
			s.WatchdogTime = microseconds(f.Value)
		case "EXTEND_TIMEOUT_USEC":
			s.Extend = microseconds(f.Value)
		case "MONOTONIC_USEC":
			// Belongs to the service's own RELOADING=1; the wrapper stamps its own.
		case "MAINPID":
			s.MainPID, _ = strconv.Atoi(f.Value)
		case "MAINPIDFD", "MAINPIDFDID":
		case "NOTIFYACCESS":
			s.Refused = append(s.Refused, f.Key)
		case "BARRIER":
			s.Barrier = f.Value == "1" && len(m) == 1
		case ReloadKey:
			s.Reload = f.Value == "1"
		case "FDSTORE":
			s.Stores = f.Value == "1"
			s.Forward = append(s.Forward, f)
		default:
			s.Forward = append(s.Forward, f)
		}
	}
	return s
}

// TakesDescriptors says whether a message is one that descriptors come with.
func (s Said) TakesDescriptors() bool { return s.Barrier || s.Stores || s.Reload }

// watchdog sorts WATCHDOG=1, which is evidence for the wrapper, from
// WATCHDOG=trigger, which is for the manager. There are no other values.
func (s *Said) watchdog(f Field) {
	switch f.Value {
	case "1":
		s.Alive = true
	case "trigger":
		s.Trigger = true
		s.Forward = append(s.Forward, f)
	}
}

// maxSpan bounds the time spans that a service may name: beyond a year it is
// no span but a slip, and sums stay far from overflow.
const maxSpan = 365 * 24 * time.Hour

// microseconds reads a count of microseconds; 0 where it is none.
func microseconds(s string) time.Duration {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return 0
	}
	if n > uint64(maxSpan/time.Microsecond) {
		return maxSpan
	}
	return time.Duration(n) * time.Microsecond
}

// Microseconds writes a span as the protocol's *_USEC= fields want it.
func Microseconds(d time.Duration) string {
	return strconv.FormatInt(d.Microseconds(), 10)
}
