package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"time"
)

// historyUnits is how many services write the journal.
const historyUnits = 200

// historyJournal is a journal in journald's export format, of services that
// talk and are restarted: each is started, fails again and again, and is up at
// last. What stands in it is that of a host, one line a second or so.
type historyJournal struct {
	out       *bufio.Writer
	random    *rand.Rand
	monotonic time.Duration
	bootID    string
	machineID string
	services  []*historyService
}

// historyService is one of the services, and the truth about it.
type historyService struct {
	unit       string
	pid        int
	invocation string // of the run that is on
	ended      []historyRun
}

// historyRun is a run that has ended, and how.
type historyRun struct {
	invocation string
	end        historyEnd
}

// historyEnd is a way in which a run ends, in the manager's words
// (systemd: src/core/service.c, service_sigchld_event).
type historyEnd struct {
	code, status, name string
	result             string // Result= of systemd.service(5)
}

func historyEnds() []historyEnd {
	return []historyEnd{
		{"exited", "1", "FAILURE", "exit-code"},
		{"exited", "75", "TEMPFAIL", "exit-code"},
		{"killed", "9", "KILL", "signal"},
		{"dumped", "6", "ABRT", "core-dump"},
	}
}

// historyBoot is when the host of the journal booted: any time will do.
var historyBoot = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// What the manager says at a start, and at an end with its restart.
const (
	linesOfStart   = 1
	linesOfRestart = 3
)

// writeHistory writes a journal of that many entries, in which each service is
// restarted so often. It returns the services with the truth.
func writeHistory(w io.Writer, random *rand.Rand, entries, restarts int) ([]*historyService, error) {
	runs := historyUnits * (restarts + 1)
	own := entries - runs*linesOfStart - historyUnits*restarts*linesOfRestart
	if own < 0 {
		return nil, fmt.Errorf("%d entries are too few for %d restarts of %d services", entries, restarts, historyUnits)
	}
	j := &historyJournal{out: bufio.NewWriterSize(w, 64<<10), random: random}
	j.bootID, j.machineID = j.newID(), j.newID()
	for i := range historyUnits {
		j.services = append(j.services, &historyService{unit: fmt.Sprintf("service-%d.service", i)})
	}
	for round := range restarts + 1 {
		share := own*(round+1)/(restarts+1) - own*round/(restarts+1)
		if err := j.round(share, round < restarts); err != nil {
			return nil, err
		}
	}
	return j.services, nil
}

// round is a run of each service, side by side.
func (j *historyJournal) round(lines int, fail bool) error {
	for _, s := range j.services {
		j.start(s)
	}
	for i := range lines {
		j.talk(j.services[i%len(j.services)])
	}
	if fail {
		for _, n := range j.random.Perm(len(j.services)) {
			j.restart(j.services[n])
		}
	}
	return j.out.Flush() // with the first error of all that was written
}

func (j *historyJournal) start(s *historyService) {
	s.invocation, s.pid = j.newID(), 1000+j.random.IntN(4_000_000)
	j.manager(s, 6, "job.c", "job_emit_done_message", "39f53479d3a045ac8e11786248231fbf", "Started "+s.unit+" - A service.",
		"JOB_TYPE=restart", "JOB_RESULT=done")
}

// restart ends a run in one of the ways, and schedules the next.
func (j *historyJournal) restart(s *historyService) {
	ends := historyEnds()
	end := ends[j.random.IntN(len(ends))]
	j.manager(s, 5, "unit.c", "unit_log_process_exit", "98e322203f7a4ed290d09fe03c09fe15",
		fmt.Sprintf("%s: Main process exited, code=%s, status=%s/%s", s.unit, end.code, end.status, end.name),
		"COMMAND=ExecStart", "EXIT_CODE="+end.code, "EXIT_STATUS="+end.status)
	j.manager(s, 4, "unit.c", "unit_log_failure", "d9b373ed55a64feb8242e02dbe79a49c",
		fmt.Sprintf("%s: Failed with result '%s'.", s.unit, end.result), "UNIT_RESULT="+end.result)
	s.ended = append(s.ended, historyRun{s.invocation, end})
	n := strconv.Itoa(len(s.ended))
	j.manager(s, 6, "service.c", "service_enter_restart", "5eb03494b6584870a536b337290809b3",
		s.unit+": Scheduled restart job, restart counter is at "+n+".", "N_RESTARTS="+n)
}

// manager is a line of process 1 about a service.
func (j *historyJournal) manager(s *historyService, priority int, file, function, messageID, message string, fields ...string) {
	j.entry()
	fmt.Fprintf(j.out, "_SOURCE_REALTIME_TIMESTAMP=%d\nPRIORITY=%d\nCODE_FILE=src/core/%s\nCODE_FUNC=%s\nMESSAGE_ID=%s\nMESSAGE=%s\n"+
		"UNIT=%s\nINVOCATION_ID=%s\n",
		historyBoot.Add(j.monotonic).UnixMicro()-40, priority, file, function, messageID, message, s.unit, s.invocation)
	for _, field := range fields {
		fmt.Fprintln(j.out, field)
	}
	fmt.Fprint(j.out, "SYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=systemd\nTID=1\n_TRANSPORT=journal\n_PID=1\n_UID=0\n_GID=0\n_COMM=systemd\n"+
		"_EXE=/usr/lib/systemd/systemd\n_CMDLINE=/sbin/init\n_CAP_EFFECTIVE=1ffffffffff\n"+
		"_SYSTEMD_CGROUP=/init.scope\n_SYSTEMD_UNIT=init.scope\n_SYSTEMD_SLICE=-.slice\n\n")
}

// talk is a line that a service prints.
func (j *historyJournal) talk(s *historyService) {
	j.entry()
	fmt.Fprintf(j.out, "MESSAGE=request %08x answered in %d ms\n_PID=%d\n_SYSTEMD_CGROUP=/system.slice/%s\n_SYSTEMD_UNIT=%s\n"+
		"_SYSTEMD_INVOCATION_ID=%s\n", j.random.Uint32(), j.random.IntN(2000), s.pid, s.unit, s.unit, s.invocation)
	fmt.Fprint(j.out, "PRIORITY=6\nSYSLOG_IDENTIFIER=worker\n_TRANSPORT=stdout\n_UID=33\n_COMM=worker\n_EXE=/usr/sbin/worker\n\n")
}

// entry begins an entry, with what journald says of each.
func (j *historyJournal) entry() {
	j.monotonic += time.Duration(1+j.random.IntN(2_000_000)) * time.Microsecond
	fmt.Fprintf(j.out, "__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=%s\n_MACHINE_ID=%s\n_HOSTNAME=host\n",
		historyBoot.Add(j.monotonic).UnixMicro(), j.monotonic.Microseconds(), j.bootID, j.machineID)
}

// newID is an ID of 128 bits, as systemd writes one.
func (j *historyJournal) newID() string {
	return fmt.Sprintf("%016x%016x", j.random.Uint64(), j.random.Uint64())
}
