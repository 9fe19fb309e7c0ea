// Package watchdog decides from health checks: when each is probed, when a
// service is ready, when it is unhealthy, and whether a heartbeat may go out.
//
// It is pure: it never looks at a clock, starts nothing and opens nothing. A
// caller probes what Monitor.Due names, hands the answers to Monitor.Done,
// and asks again at Monitor.Next.
//
// Invariants:
//   - a check is never probed while a probe of it is still out;
//   - a heartbeat is owed only on fresh evidence: every live check completed
//     a probe, passed or failed, within its interval and timeout;
//   - failures count only from readiness on (start grace);
//   - an answer that took far longer than its timeout tells of a starved host
//     and counts neither way;
//   - no secret of a check (URL credentials, query, header values) is in its Label.
//
// ParseCheck reads what users write; NewMonitor is the entry point.
package watchdog
