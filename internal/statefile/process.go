package statefile

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Process names one process for good. A pid alone may be another's by the time
// that somebody reads it.
type Process struct {
	BootID string `json:"boot_id,omitempty"` // as the journal writes it: 32 digits
	PID    int    `json:"pid,omitempty"`
	Ticks  uint64 `json:"starttime_ticks,omitempty"` // starttime in proc_pid_stat(5)
}

// Self is this process.
func Self() (Process, error) {
	pid := os.Getpid()
	ticks, _, err := startTime(pid)
	if err != nil {
		return Process{}, err
	}
	return Process{BootID: BootID(), PID: pid, Ticks: ticks}, nil
}

// Lives says whether the process still runs. Of another pid namespace it sees
// nothing, and takes its processes for dead.
func (p Process) Lives() bool {
	if !SameBoot(p.BootID, BootID()) {
		return false
	}
	ticks, dead, err := startTime(p.PID)
	return err == nil && !dead && ticks == p.Ticks
}

// BootID names the boot of the host (random(4)), as the journal's _BOOT_ID=
// does. It is empty where that is hidden, as ProcSubset=pid does it
// (systemd.exec(5)).
func BootID() string {
	data, err := Read("/proc/sys/kernel/random/boot_id", 64)
	if err != nil {
		return ""
	}
	id := strings.ReplaceAll(strings.TrimSpace(string(data)), "-", "")
	if raw, err := hex.DecodeString(id); err != nil || len(raw) != 16 {
		return ""
	}
	return id
}

// SameBoot says whether two boot ids can be those of one boot: of a hidden one
// nobody can say that it is another.
func SameBoot(a, b string) bool { return a == b || a == "" || b == "" }

// startTime reads from proc_pid_stat(5) when a process was started, and whether
// it is dead and only waits to be reaped.
func startTime(pid int) (ticks uint64, dead bool, err error) {
	path := "/proc/" + strconv.Itoa(pid) + "/stat"
	stat, err := Read(path, 8<<10)
	if err != nil {
		return 0, false, err
	}
	ticks, dead, ok := parseStat(stat)
	if !ok {
		return 0, false, fmt.Errorf("%s: unknown form", path)
	}
	return ticks, dead, nil
}

// parseStat finds state and starttime, the fields 3 and 22. The second field is
// a name that may hold anything: what counts begins after its last parenthesis.
func parseStat(stat []byte) (ticks uint64, dead, ok bool) {
	const state, starttime = 0, 22 - 3
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= starttime {
		return 0, false, false
	}
	ticks, err := strconv.ParseUint(string(fields[starttime]), 10, 64)
	return ticks, bytes.ContainsAny(fields[state], "ZXx"), err == nil
}
