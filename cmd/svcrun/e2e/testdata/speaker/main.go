// Command speaker is a service that speaks the notify protocol as its arguments
// say, one after the other, and ends when they are done.
//
//	say=TEXT        sends TEXT to $NOTIFY_SOCKET; \n is a newline, \0 a NUL, %5000x are 5000 x
//	pass=N,TEXT     the same with N descriptors
//	store=NAME      stores a descriptor of a file that holds NAME, under that name
//	stored=FILE     writes what has come back: a line "NAME CONTENT" each
//	barrier         returns when the manager has worked off all before it
//	each=N,ACTION   has N processes do ACTION, many at a time; # in it is the number
//	flood=ACTION    does ACTION without a pause for ever, beside the rest
//	every=D,ACTION  does ACTION every D for ever, beside the rest
//	name            says that it is the main process
//	fork=ACTIONS    starts itself with other actions, which are separated by ;
//	on=SIG,ACTION   does ACTION when it gets SIG
//	touch=FILE  until=FILE  exit=CODE  wait
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	for _, action := range os.Args[1:] {
		if err := do(action); err != nil {
			log.Fatalf("%s: %v", action, err)
		}
	}
}

func do(action string) error {
	verb, arg, _ := strings.Cut(action, "=")
	switch verb {
	case "say":
		return say(arg)
	case "pass":
		return pass(arg)
	case "store":
		return store(arg)
	case "stored":
		return stored(arg)
	case "barrier":
		return barrier()
	case "each":
		return each(arg)
	case "flood":
		go func() {
			for {
				_ = do(arg)
			}
		}()
		return nil
	case "every":
		return every(arg)
	case "name":
		return say(fmt.Sprintf("MAINPID=%d", os.Getpid()))
	case "fork":
		return again(strings.Split(arg, ";")...).Start()
	case "on":
		return on(arg)
	case "touch":
		return os.WriteFile(arg, nil, 0o644)
	case "until":
		for {
			if _, err := os.Stat(arg); err == nil {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
		}
	case "exit":
		code, err := strconv.Atoi(arg)
		if err == nil {
			os.Exit(code)
		}
		return err
	case "wait":
		for {
			time.Sleep(time.Hour)
		}
	}
	return errors.New("no such action")
}

// say sends a datagram, and waits where the receiver has no room.
func say(text string, fds ...int) error {
	text = strings.NewReplacer(`\n`, "\n", `\0`, "\x00", `\xff`, "\xff").Replace(text)
	if before, rest, ok := strings.Cut(text, "%"); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(rest, "x"))
		if err != nil {
			return err
		}
		text = before + strings.Repeat("x", n)
	}
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	return unix.Sendmsg(socket, []byte(text), rights, &unix.SockaddrUnix{Name: os.Getenv("NOTIFY_SOCKET")}, 0)
}

func pass(arg string) error {
	count, text, _ := strings.Cut(arg, ",")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	fds := make([]int, n)
	for i := range fds {
		fds[i] = 2
	}
	return say(text, fds...)
}

func store(name string) error {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if _, err := unix.Write(fd, []byte(name)); err != nil {
		return err
	}
	return say("FDSTORE=1\\nFDPOLL=0\\nFDNAME="+name, fd)
}

func stored(file string) error {
	var lines strings.Builder
	n, _ := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		n = 0
	}
	for i, name := range strings.Split(os.Getenv("LISTEN_FDNAMES"), ":")[:min(n, 1000)] {
		text := make([]byte, 256)
		size, err := unix.Pread(3+i, text, 0)
		fmt.Fprintf(&lines, "%s %s %v\n", name, text[:max(size, 0)], err)
	}
	if err := os.WriteFile(file+".new", []byte(lines.String()), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func barrier() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	err = say("BARRIER=1", int(w.Fd()))
	_ = w.Close()
	if err == nil {
		_, _ = io.ReadAll(r)
	}
	return err
}

func each(arg string) error {
	count, action, _ := strings.Cut(arg, ",")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	free := make(chan struct{}, 8)
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			if err := again(strings.ReplaceAll(action, "#", strconv.Itoa(i))).Run(); err != nil {
				log.Print(err)
			}
			<-free
		})
	}
	all.Wait()
	return nil
}

func every(arg string) error {
	span, action, _ := strings.Cut(arg, ",")
	d, err := time.ParseDuration(span)
	if err != nil {
		return err
	}
	go func() {
		for range time.Tick(d) {
			_ = do(action)
		}
	}()
	return nil
}

func again(actions ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", actions...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

func on(arg string) error {
	name, action, _ := strings.Cut(arg, ",")
	got := make(chan os.Signal, 8)
	signal.Notify(got, unix.SignalNum("SIG"+name))
	go func() {
		for range got {
			for _, a := range strings.Split(action, ";") {
				if err := do(a); err != nil {
					log.Fatalf("%s: %v", filepath.Base(a), err)
				}
			}
		}
	}()
	return nil
}
