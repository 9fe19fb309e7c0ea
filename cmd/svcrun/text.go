package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/svckit/svckit/history"
	"github.com/svckit/svckit/internal/supervise"
	"github.com/svckit/svckit/internal/supervise/machine"
)

// This file holds all text that a user of svcrun sees. Its lines are few, go to
// stderr, begin with "svcrun: ", are in lower case and have no full stop. Under
// systemd each has its priority before it (sd-daemon(3)). The last one is the
// end line, whose form is fixed: svcstat reads it.

// output is where svcrun's own lines go.
type output struct {
	stdout   io.Writer
	stderr   *sink
	level    machine.Level // the least important that is printed
	prefixed bool          // stderr is the journal
}

// newOutput finds out whether stderr is the journal, as JOURNAL_STREAM= says
// (systemd.exec(5)).
func newOutput(stdout, stderr *os.File, environ []string) *output {
	o := &output{stdout: stdout, stderr: &sink{fd: raw(stderr.Fd())}, level: machine.Info}
	var st unix.Stat_t
	if unix.Fstat(int(stderr.Fd()), &st) == nil {
		o.prefixed = supervise.Variable(environ, "JOURNAL_STREAM") == fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	}
	return o
}

// log prints a line if it is important enough.
func (o *output) log(level machine.Level, text string) {
	if level <= o.level {
		o.line(level, "svcrun: "+text)
	}
}

// end prints the end line; always, since it is the record of last resort.
func (o *output) end(line history.EndLine) { o.line(machine.Info, line.Format()) }

// close sees to it that all is written that can be.
func (o *output) close() { o.stderr.flush(flushWait) }

// line prints one line.
func (o *output) line(level machine.Level, text string) {
	text = strings.ReplaceAll(text, "\n", " ")
	if o.prefixed {
		text = fmt.Sprintf("<%d>%s", level, text)
	}
	o.stderr.write(text + "\n")
}

// usage tells what is wrong with the command line.
func (o *output) usage(err error) {
	o.line(machine.Error, "svcrun: "+err.Error())
}

// reloadFailed tells why a reload was not done.
func (o *output) reloadFailed(err error) {
	o.line(machine.Error, "svcrun: reload: "+err.Error())
}

func (o *output) reloadHelp() { _, _ = io.WriteString(o.stdout, reloadUsage) }

// forgot tells how many failed runs in a row were forgotten.
func (o *output) forgot(failures int) {
	switch failures {
	case 0:
		_, _ = io.WriteString(o.stdout, "nothing to forget\n")
	case 1:
		_, _ = io.WriteString(o.stdout, "1 failure forgotten\n")
	default:
		_, _ = fmt.Fprintf(o.stdout, "%d failures in a row forgotten\n", failures)
	}
}

// forgetFailed tells why nothing was forgotten.
func (o *output) forgetFailed(err error) {
	o.line(machine.Error, "svcrun: --forget: "+err.Error())
}

func (o *output) version() { _, _ = fmt.Fprintf(o.stdout, "svcrun %s\n", version) }

func (o *output) help() {
	var b strings.Builder
	b.WriteString(helpHead)
	for _, f := range flags {
		name := "--" + f.name
		if f.value != "" {
			name += "=" + f.value
		}
		fmt.Fprintf(&b, "  %-38s %s\n", name, f.help)
	}
	for _, w := range wordsHelp {
		fmt.Fprintf(&b, "  %-38s %s\n", "--"+w[0], w[1])
	}
	b.WriteString(helpTail)
	_, _ = io.WriteString(o.stdout, b.String())
}

// wordsHelp is what help says of the flags that have svcrun do something else
// than run COMMAND.
var wordsHelp = [...][2]string{
	{forgetWord, "with --runtime-dir=DIR alone: forget the failed runs, so that the next start is not held back"},
	{"version", "print the version"},
	{"help", "print this help"},
}

const reloadUsage = `usage: svcrun reload --runtime-dir=DIR
       svcrun reload --notify-socket=PATH

Has the svcrun of the same unit reload its service, and waits until that is
over. It is for ExecReload= where systemd has no Type=notify-reload (before
253); the flag is the one that svcrun itself was given.

exit status:
   0  reloaded: the ready checks hold again
   1  not reloaded; the reason is printed
  64  usage
`

const helpHead = `usage: svcrun [FLAGS] -- COMMAND [ARG...]
       svcrun reload --runtime-dir=DIR
       svcrun --forget --runtime-dir=DIR

Runs COMMAND as a service: tells systemd when it is ready and alive by health
checks, relays what it tells systemd itself, and stops it within a bound.

flags:
`

const helpTail = `
A CHECK is KIND:WHERE[,option[=value]...]:
  http://HOST:PORT/PATH, http+unix:/PATH/OF/SOCKET:/PATH   answers 2xx or 3xx
  https://HOST:PORT/PATH    the same; asked by svckit-probe, beside svcrun
  tcp:HOST:PORT             a connection opens
  listen:[ADDRESS:]PORT     a socket of COMMAND listens; connects to nothing
  unix:PATH                 a stream or seqpacket connection opens
  grpc:HOST:PORT[/SERVICE]  grpc.health.v1 says SERVING, without TLS
  exec:CMD                  exits 0
  file:PATH                 is there; with max-age=D, touched within D
  memory:SIZE               the unit uses less; with peak, has always done so
  notify                    COMMAND itself says READY=1 (--ready), WATCHDOG=1 (--live)
  fd:N                      COMMAND writes a newline to descriptor N (--ready)
A HOST that is a name is looked up by svckit-probe; localhost is this host.
Options of all but fd: interval=10s timeout=2s failures=3 successes=1
on-unhealthy=; of http and https: status=2xx+304 method= header= header-file=
host= body=REGEXP, of https: insecure; of http, https, tcp and unix: owned, it
is COMMAND that listens there. A comma in a value is written \,

A D is a time span: 90s, 1min 30s, 500ms. A SIZE: 512M, 1.5G.

exit status: that of COMMAND, a signal included; or
   0  a stop was asked for, and COMMAND ended as it was asked to
   1  svcrun could not do its work; it prints why
  64  usage
  69  unhealthy: a live check failed as often in a row as its failures= says
  70  not ready within the start timeout
 203  COMMAND cannot be executed
`
