package main

import (
	"testing"
	"time"
)

func TestStatusTimeIsFoundBehindWhatAWrapperPutsBefore(t *testing.T) {
	for message, want := range map[string]time.Duration{
		"STATUS=bench:123;":                        123,
		"STATUS=ready · child: bench:123;":         123,
		"READY=1\nSTATUS=live 1/1 · bench:9;\nX=1": 9,
		"STATUS=bench:123":                         -1, // cut off
		"STATUS=bench:;":                           -1,
		"STATUS=bench:1x;":                         -1,
		"READY=1":                                  -1,
		"":                                         -1,
		"STATUS=bench:99999999999999999999999999999;": -1,
	} {
		got, ok := statusTime([]byte(message))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("statusTime(%q) = %d, %v; want %d", message, got, ok, want)
		}
	}
}

func TestNumberOfReadsOneLineOfProc(t *testing.T) {
	const text = "Name:\tsvcrun\nVmPTE:\t      48 kB\nThreads:\t5\nnonvoluntary_ctxt_switches:\t7\nvoluntary_ctxt_switches:\t3\nEmpty:\n"
	for key, want := range map[string]int64{"VmPTE:": 48, "Threads:": 5, "voluntary_ctxt_switches:": 3, "Name:": -1, "Empty:": -1, "None:": -1} {
		got, err := numberOf([]byte(text), key)
		if (err == nil) != (want >= 0) || err == nil && got != want {
			t.Errorf("numberOf(%q) = %d, %v; want %d", key, got, err, want)
		}
	}
}
