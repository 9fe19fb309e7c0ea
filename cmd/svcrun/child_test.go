package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/internal/syntax"
)

// childMain is a service that does what its arguments say, one after the other,
// and ends when they are done. NAME is for the script: its waitfor, signal, gone
// and alive know the process by it.
//
//	tell=NAME      says to the script that it got here
//	say=TEXT       says TEXT to its $NOTIFY_SOCKET; \n is a newline, %5000x are 5000 x
//	pass=TEXT      the same with a descriptor
//	name           says that it is the main process from now on
//	env=FILE       writes its environment
//	on=SIG,ACTION  does ACTION when it gets SIG; on=SIG, is deaf to it
//	fork=NAME      starts another one in its group, deaf to what it is deaf to
//	daemon=NAME    starts a deaf one that leaves its session and its parent
//	listen=ADDR    listens on tcp:ADDR or unix:PATH
//	print=N        prints N lines
//	put=N TEXT     writes TEXT to descriptor N
//	close=N        closes it
//	pids=NAMES     checks that each of these variables is its pid
//	in=FILE        goes to that directory
//	exit=CODE  die=SIG  wait
func childMain() {
	// Whatever a test forgets is gone in the end, long after the test has lost its patience.
	time.AfterFunc(5*time.Minute, func() { os.Exit(99) })
	for _, action := range os.Args[1:] {
		if err := do(action); err != nil {
			fmt.Fprintf(os.Stderr, "child: %s: %v\n", action, err)
			os.Exit(98)
		}
	}
}

// do does one action.
func do(action string) error {
	verb, arg, _ := strings.Cut(action, "=")
	switch verb {
	case "tell":
		return tell(arg)
	case "say":
		return say(arg)
	case "pass":
		return say(arg, os.Stdin)
	case "name":
		return say(fmt.Sprintf("MAINPID=%d", os.Getpid()))
	case "env":
		return os.WriteFile(arg, []byte(strings.Join(os.Environ(), "\n")+"\n"), 0o600)
	case "on":
		return on(arg)
	case "fork":
		return again("tell="+arg, "wait").Start()
	case "daemon":
		return daemon(arg)
	case "listen":
		network, address, _ := strings.Cut(arg, ":")
		_, err := net.Listen(network, address)
		return err
	case "print":
		return printLines(arg)
	case "put", "close":
		return put(arg, verb == "close")
	case "pids":
		return pids(arg)
	case "in":
		return os.Chdir(arg)
	case "exit":
		code, err := strconv.Atoi(arg)
		if err == nil {
			os.Exit(code)
		}
		return err
	case "die":
		return die(arg)
	case "wait":
		select {}
	}
	return fmt.Errorf("no such action")
}

// tell says name and pid to the script.
func tell(name string) error {
	conn, err := net.Dial("unixgram", os.Getenv("STAGE"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "%s %d", name, os.Getpid())
	return err
}

// say says something to the manager that it was given.
func say(text string, files ...*os.File) error {
	text = strings.ReplaceAll(text, `\n`, "\n")
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
	for _, f := range files {
		rights = unix.UnixRights(int(f.Fd()))
	}
	return unix.Sendmsg(socket, []byte(text), rights, &unix.SockaddrUnix{Name: os.Getenv("NOTIFY_SOCKET")}, 0)
}

// on has an action done at a signal, or none.
func on(arg string) error {
	name, action, _ := strings.Cut(arg, ",")
	number, err := syntax.ParseSignal(name)
	if err != nil {
		return err
	}
	if action == "" {
		signal.Ignore(syscall.Signal(number))
		return nil
	}
	got := make(chan os.Signal, 8)
	signal.Notify(got, syscall.Signal(number))
	go func() {
		for range got {
			if err := do(action); err != nil {
				fmt.Fprintf(os.Stderr, "child: %s: %v\n", action, err)
				os.Exit(98)
			}
		}
	}()
	return nil
}

// again is this program with other actions.
func again(actions ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", actions...)
	cmd.Args[0] = "child"
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd
}

// daemon starts what has left its session, by a parent that is gone before it tells.
func daemon(name string) error {
	between := exec.Command("/bin/sh", "-c", `setsid "$@" & exit 0`, "sh", "child", "on=TERM,", "on=HUP,", "tell="+name, "wait")
	between.Stdout, between.Stderr = os.Stdout, os.Stderr
	return between.Run()
}

// put writes to a descriptor, or closes it.
func put(arg string, last bool) error {
	number, text, _ := strings.Cut(arg, " ")
	fd, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return err
	case last:
		return unix.Close(fd)
	}
	_, err = unix.Write(fd, []byte(strings.ReplaceAll(text, `\n`, "\n")))
	return err
}

// pids checks that variables name this process.
func pids(names string) error {
	for name := range strings.FieldsSeq(names) {
		if got := os.Getenv(name); got != strconv.Itoa(os.Getpid()) {
			return fmt.Errorf("%s is %q, not %d", name, got, os.Getpid())
		}
	}
	return nil
}

// printLines prints so many lines.
func printLines(arg string) error {
	n, err := strconv.Atoi(arg)
	if err != nil {
		return err
	}
	_, err = io.Copy(os.Stdout, bytes.NewReader(bytes.Repeat([]byte("a line of the child\n"), n)))
	return err
}

// die has this process die of a signal, as a program that knows nothing of Go.
func die(name string) error {
	number, err := syntax.ParseSignal(name)
	if err != nil {
		return err
	}
	return syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$; sleep 10", number)}, os.Environ())
}
