// Command service is service.c for machines without a C compiler.
package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"unsafe"
)

const clockMonotonic, schedIdle = 1, 5

func now() int64 {
	var t syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func say(what byte, when int64) {
	record := binary.NativeEndian.AppendUint64(nil, uint64(what))
	record = binary.NativeEndian.AppendUint64(record, uint64(when))
	record = binary.NativeEndian.AppendUint64(record, uint64(os.Getpid()))
	if _, err := os.Stdout.Write(record); err != nil {
		os.Exit(1)
	}
}

// tellStatus sends one status message that carries the time.
func tellStatus() {
	conn, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
	if err == nil {
		_, err = fmt.Fprintf(conn, "STATUS=bench:%d;", now())
		_ = conn.Close()
	}
	if err != nil {
		os.Exit(1)
	}
}

// spin keeps a processor from halting, and gives way to whoever wants it.
func spin() {
	var priority int32
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, 0, schedIdle, uintptr(unsafe.Pointer(&priority)))
	for {
	}
}

func main() {
	begun := now()
	if len(os.Args) > 1 && os.Args[1] == "spin" {
		spin()
	}
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	go func() {
		for range terms {
			say('t', now())
			if os.Getenv("BENCH_STUBBORN") == "" {
				os.Exit(0)
			}
		}
	}()
	say('m', begun)
	told := make([]byte, 1)
	for {
		if n, _ := os.Stdin.Read(told); n != 1 {
			os.Exit(1)
		}
		switch told[0] {
		case 's':
			tellStatus()
		case 'x':
			say('x', now())
			os.Exit(0)
		}
	}
}
