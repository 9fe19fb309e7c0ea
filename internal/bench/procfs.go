package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// kernelStack is what the kernel keeps for each thread (x86-64 and arm64).
const kernelStackKiB = 16

// threads are the directories of a process's threads.
func threads(pid int) ([]string, error) {
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("process %d has gone", pid)
	}
	return all, err
}

// sumThreads adds up a number of each thread.
func sumThreads(pid int, file string, number func(text []byte) (int64, error)) (sum int64, err error) {
	all, err := threads(pid)
	if err != nil {
		return 0, err
	}
	for _, dir := range all {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if os.IsNotExist(err) {
			continue // it has ended since
		}
		if err != nil {
			return 0, err
		}
		n, err := number(text)
		if err != nil {
			return 0, fmt.Errorf("%s/%s: %w", dir, file, err)
		}
		sum += n
	}
	return sum, nil
}

// cpuTime is what a process's threads have run, to the nanosecond.
func cpuTime(pid int) (time.Duration, error) {
	ns, err := sumThreads(pid, "schedstat", func(text []byte) (int64, error) {
		first, _, _ := bytes.Cut(text, []byte(" "))
		return strconv.ParseInt(string(first), 10, 64)
	})
	return time.Duration(ns), err
}

// switches is how often a process's threads have been switched to.
func switches(pid int) (int64, error) {
	return sumThreads(pid, "status", func(text []byte) (int64, error) {
		voluntary, err := numberOf(text, "voluntary_ctxt_switches:")
		if err != nil {
			return 0, err
		}
		forced, err := numberOf(text, "nonvoluntary_ctxt_switches:")
		return voluntary + forced, err
	})
}

// memoryKiB is what a process costs: its share of the pages, its page tables
// and its kernel stacks.
func memoryKiB(pid int) (int64, error) {
	rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	share, err := numberOf(rollup, "Pss:")
	if err != nil {
		return 0, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	tables, err := numberOf(status, "VmPTE:")
	if err != nil {
		return 0, err
	}
	n, err := numberOf(status, "Threads:")
	return share + tables + kernelStackKiB*n, err
}

// numberOf is the number in the line of a proc(5) file that begins so.
func numberOf(text []byte, key string) (int64, error) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			fields := bytes.Fields(rest)
			if len(fields) == 0 {
				break
			}
			return strconv.ParseInt(string(fields[0]), 10, 64)
		}
	}
	return 0, fmt.Errorf("no number for %s", key)
}
