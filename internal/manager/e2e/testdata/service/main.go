// Command service is a service that does what it is told, and keeps a record of
// what it lived through:
//
//	service DIR BEHAVIOUR...
//
// Each BEHAVIOUR is for one run, the last one for all that follow. It is a list
// of the words in the table below; after them the service serves until it is
// stopped, for five minutes at most. DIR/record, or DIR/$RECORD, gets a line for
// everything that happens: when (microseconds since 1970), the number of the
// run, its pid and its parent's, and a word.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// words are what a run may be told, each with what stands behind its "=".
var words = map[string]func(r *run, value string){
	"ready": func(r *run, _ string) { r.ready() },
	"for":   func(_ *run, value string) { time.Sleep(span(value)) },
	"until": func(r *run, value string) { r.until(value) },
	"exit":  func(r *run, value string) { r.exit(number(value)) },
	"die":   func(r *run, value string) { r.become("kill -" + value + " $$") },
	"core": func(r *run, value string) {
		r.become("ulimit -c unlimited; echo 0 >/proc/self/coredump_filter; kill -" + value + " $$")
	},
	"plain":  func(r *run, _ string) { r.become("ulimit -c 0; touch plain; exec sleep 300") }, // a program that heeds no signal of its own accord
	"touch":  func(r *run, value string) { r.touch(value) },
	"remove": func(r *run, value string) { _ = os.Remove(filepath.Join(r.dir, value)) },
	"serve":  func(r *run, _ string) { r.serve() },
	"note":   func(r *run, value string) { r.note(value) },
	"say":    func(r *run, value string) { r.say(value) },
	"leave":  func(r *run, _ string) { r.leave() },
	"alone":  func(r *run, _ string) { r.alone() },
	"answer": func(r *run, value string) { r.answer(value) },

	// What it does when it is asked to stop: at once, if it is told nothing.
	"slow": func(r *run, value string) { r.slow.Store(int64(span(value))) },
	"deaf": func(r *run, _ string) { r.slow.Store(int64(time.Hour)) },
	// And how long it takes to be ready again after a reload.
	"turn": func(r *run, value string) { r.turn.Store(int64(span(value))) },
}

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: service DIR BEHAVIOUR...")
	}
	r := begin(os.Args[1])
	for word := range strings.FieldsSeq(os.Args[min(r.number+1, len(os.Args)-1)]) {
		name, value, _ := strings.Cut(word, "=")
		if words[name] == nil {
			log.Fatalf("no word %q", name)
		}
		words[name](r, value)
	}
	time.Sleep(5 * time.Minute)
	r.exit(99)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		log.Fatal(err)
	}
	return n
}

func span(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		log.Fatal(err)
	}
	return d
}

// run is one run of the service.
type run struct {
	dir, record string
	number      int
	slow        atomic.Int64 // how long it takes to stop, in nanoseconds
	turn        atomic.Int64 // how long it takes to reload
}

// begin begins the run after those in the record.
func begin(dir string) *run {
	name := os.Getenv("RECORD")
	if name == "" {
		name = "record"
	}
	r := &run{dir: dir, record: filepath.Join(dir, name)}
	text, err := os.ReadFile(r.record)
	if err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}
	r.number = strings.Count(string(text), " start\n") + 1
	got := make(chan os.Signal, 8)
	signal.Notify(got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	r.note("start")
	go r.heed(got)
	return r
}

// note writes a line of the record.
func (r *run) note(word string) {
	file, err := os.OpenFile(r.record, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if _, err := fmt.Fprintln(file, time.Now().UnixMicro(), r.number, os.Getpid(), os.Getppid(), word); err != nil {
		log.Fatal(err)
	}
}

// heed does as signals ask it to.
func (r *run) heed(got <-chan os.Signal) {
	for s := range got {
		r.note(unix.SignalName(s.(syscall.Signal)))
		switch s {
		case syscall.SIGHUP:
			time.AfterFunc(time.Duration(r.turn.Load()), func() { r.say("READY=1") })
		case syscall.SIGTERM, syscall.SIGINT:
			time.AfterFunc(time.Duration(r.slow.Load()), func() { r.exit(0) })
		}
	}
}

// until waits for a file of the directory.
func (r *run) until(name string) {
	for {
		if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (r *run) exit(code int) {
	r.note("exit-" + strconv.Itoa(code))
	os.Exit(code)
}

// become lets a shell end this process, with the dispositions of signals that a
// process begins with.
func (r *run) become(script string) {
	r.note("dies")
	if err := os.Chdir(r.dir); err != nil {
		log.Fatal(err)
	}
	log.Fatal(syscall.Exec("/bin/sh", []string{"sh", "-c", script}, os.Environ()))
}

func (r *run) touch(name string) {
	if err := os.WriteFile(filepath.Join(r.dir, name), nil, 0o666); err != nil {
		log.Fatal(err)
	}
}

// leave starts a process that heeds nothing and is in nobody's way, in a session
// of its own.
func (r *run) leave() {
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM HUP INT; sleep 30; sleep 30")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "left"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o666); err != nil {
		log.Fatal(err)
	}
}

// alone notes whether what an earlier run has left is gone.
func (r *run) alone() {
	text, err := os.ReadFile(filepath.Join(r.dir, "left"))
	if err != nil {
		log.Fatal(err)
	}
	word := "alone"
	if syscall.Kill(number(string(text)), 0) == nil {
		word = "in-company"
	}
	r.note(word)
}

// ready says so, and goes on when that has been heard.
func (r *run) ready() {
	r.say("READY=1")
	here, there, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	r.send("BARRIER=1", unix.UnixRights(int(there.Fd())))
	_ = there.Close()
	_ = here.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := here.Read(make([]byte, 1)); err != io.EOF {
		r.note("unheard")
	}
}

func (r *run) say(text string) { r.send(text, nil) }

func (r *run) send(text string, rights []byte) {
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Sendmsg(socket, []byte(text), rights, &unix.SockaddrUnix{Name: os.Getenv("NOTIFY_SOCKET")}, 0)
		_ = unix.Close(socket)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve tells whoever connects to the first socket that the service was given
// the number of the run.
func (r *run) serve() {
	if os.Getenv("LISTEN_FDS") == "" || os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		log.Fatalf("no socket: LISTEN_FDS=%s LISTEN_PID=%s", os.Getenv("LISTEN_FDS"), os.Getenv("LISTEN_PID"))
	}
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprintln(conn, "run", r.number)
			_ = conn.Close()
		}
	}()
}

// answer answers http on a socket of the directory, but not while that has a
// file "hang".
func (r *run) answer(name string) {
	place := filepath.Join(r.dir, name)
	_ = os.Remove(place)
	listener, err := net.Listen("unix", place)
	if err != nil {
		log.Fatal(err)
	}
	handler := http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		if _, err := os.Stat(filepath.Join(r.dir, "hang")); err == nil {
			<-request.Context().Done()
		}
	})
	go func() { _ = http.Serve(listener, handler) }()
}
