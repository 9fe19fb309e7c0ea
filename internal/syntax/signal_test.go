package syntax

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEverySignalIsReadByNameAndByNumber(t *testing.T) {
	for n := 1; n <= 64; n++ {
		want := Signal(n)
		texts := []string{strconv.Itoa(n), want.Name()}
		if n <= 31 || n >= 34 {
			texts = append(texts, "SIG"+want.Name(), want.String())
		}
		for _, text := range texts {
			if got, err := ParseSignal(text); err != nil || got != want {
				t.Errorf("ParseSignal(%q) = %d, %v; want %d", text, got, err, want)
			}
		}
	}
}

func TestSignalNamesAreTheKernels(t *testing.T) {
	for n := 1; n <= 31; n++ {
		kernel := unix.SignalName(unix.Signal(n))
		got, err := ParseSignal(kernel)
		if err != nil || int(got) != n {
			t.Errorf("%s is read as %d, %v; want %d", kernel, got, err, n)
		}
		if got.String() != kernel {
			t.Errorf("signal %d is called %s; want %s", n, got, kernel)
		}
	}
}

func TestRealTimeSignalsAreCountedFromBothEnds(t *testing.T) {
	for n := 34; n <= 64; n++ {
		for _, text := range []string{"RTMIN+" + strconv.Itoa(n-34), "RTMAX-" + strconv.Itoa(64-n)} {
			if got, err := ParseSignal(text); err != nil || int(got) != n {
				t.Errorf("ParseSignal(%q) = %d, %v; want %d", text, got, err, n)
			}
		}
	}
}

func TestShellsSignalNamesAreRead(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here: signal names are not compared with its own")
	}
	out, err := exec.Command(bash, "-c", "for n in $(seq 31) $(seq 34 64); do echo $n $(kill -l $n); done").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 62 {
		t.Fatalf("bash names %d signals", len(lines))
	}
	for _, line := range lines {
		number, name, _ := strings.Cut(line, " ")
		if got, err := ParseSignal(name); err != nil || strconv.Itoa(int(got)) != number {
			t.Errorf("ParseSignal(%q) = %d, %v; bash says %s", name, got, err, number)
		}
	}
}

func TestSecondNamesOfSignalsAreRead(t *testing.T) {
	for name, want := range map[string]Signal{"IOT": SIGABRT, "SIGCLD": 17, "SIGPOLL": 29, "RTMIN": 34, "SIGRTMAX": 64} {
		if got, err := ParseSignal(name); err != nil || got != want {
			t.Errorf("ParseSignal(%q) = %d, %v; want %d", name, got, err, want)
		}
	}
}

func TestUnknownSignalsAreRefusedWithTheCure(t *testing.T) {
	for text, want := range map[string]string{
		"":          `unknown signal ""; write a name such as TERM, INT, HUP or RTMIN+3`,
		"term":      `unknown signal "term"; did you mean TERM`,
		"SIGTREM":   `unknown signal "SIGTREM"; did you mean TERM`,
		"0":         `unknown signal "0"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"65":        `unknown signal "65"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"-9":        `unknown signal "-9"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"+9":        `unknown signal "+9"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"010":       `unknown signal "010"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"RTMIN+31":  `unknown signal "RTMIN+31"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"RTMIN-1":   `unknown signal "RTMIN-1"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"RTMIN3":    `unknown signal "RTMIN3"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"RTMAX+1":   `unknown signal "RTMAX+1"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"RTMAX-31":  `unknown signal "RTMAX-31"; write a name such as TERM, INT, HUP or RTMIN+3`,
		"RTMIN+256": `unknown signal "RTMIN+256"; write a name such as TERM, INT, HUP or RTMIN+3`,
	} {
		if _, err := ParseSignal(text); err == nil || err.Error() != want {
			t.Errorf("ParseSignal(%q):\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestNumbersThatAreNoSignalPrintAsNumbers(t *testing.T) {
	for n, want := range map[Signal]string{0: "signal 0", -1: "signal -1", 32: "signal 32", 65: "signal 65"} {
		if got := n.String(); got != want {
			t.Errorf("Signal(%d) prints %q, want %q", int(n), got, want)
		}
	}
}
