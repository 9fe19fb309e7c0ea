package vm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/svckit/svckit/internal/lab"
)

// request is a command for the machine: one JSON document a line.
type request struct {
	Argv  []string
	Input []byte
}

// Result is how a command in the machine ended.
type Result struct {
	lab.Result
	// Took is how long it ran by the machine's own clock: without the serial
	// line's time.
	Took time.Duration
}

// maxKept bounds what is kept of each of a command's two outputs: the line is slow.
const maxKept = 256 << 10

// Serve answers commands from the line, in the machine, one after the other. It
// says hello with an empty answer, and returns when the line ends.
func Serve(line io.ReadWriter) error {
	commands, answers := json.NewDecoder(line), json.NewEncoder(line)
	for said := (Result{}); ; {
		if err := answers.Encode(said); err != nil {
			return err
		}
		var r request
		if err := commands.Decode(&r); err != nil {
			return err
		}
		said = r.run()
	}
}

// shellFailed is what a shell exits with for a command that it cannot execute.
const shellFailed = 127

// run runs the command to its end.
func (r request) run() Result {
	var stdout, stderr bytes.Buffer
	if len(r.Argv) == 0 {
		return Result{Result: lab.Result{Code: shellFailed, Stderr: "no command"}}
	}
	cmd := exec.Command(r.Argv[0], r.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(r.Input), &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	result := Result{Took: time.Since(began)}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		result.Code = exit.ExitCode()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			result.Code = 128 + int(ws.Signal())
		}
	case err != nil:
		result.Code = shellFailed
		stderr.WriteString(err.Error())
	}
	result.Stdout, result.Stderr = kept(stdout), kept(stderr)
	return result
}

// kept is the end of an output.
func kept(output bytes.Buffer) string {
	text := output.Bytes()
	return string(text[max(0, len(text)-maxKept):])
}
