package unitgen

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestTargetsAreTheDistributionsAndTheVersions(t *testing.T) {
	want := map[string]int{
		"debian11": 247, "debian12": 252, "debian13": 257, "ubuntu20.04": 245, "ubuntu22.04": 249, "ubuntu24.04": 255,
		"rhel8": 239, "rhel9": 252, "rhel10": 257,
		"v255": 255, "v256": 256, "v257": 257, "v258": 258, "v259": 259, "v260": 260, "v261": 261, "v262": 262,
	}
	for _, target := range Targets() {
		if want[target.Name] != target.Systemd {
			t.Errorf("%s is systemd %d, want %d", target.Name, target.Systemd, want[target.Name])
		}
		delete(want, target.Name)
		if again, err := LookupTarget(target.Name); err != nil || again.String() != target.String() {
			t.Errorf("%s: got %v, %v", target.Name, again, err)
		}
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
	if target, err := LookupTarget("v254"); err != nil || target.Systemd != 254 || target.String() != "systemd 254" {
		t.Errorf("v254: got %v, %v", target, err)
	}
	for _, name := range []string{"", "v", "v238", "v263", "v0257", "v-1", "v99999999999999999999", "debian", "rhel7", "host"} {
		if target, err := LookupTarget(name); err == nil {
			t.Errorf("%q is the target %v", name, target)
		}
	}
}

func TestTargetHasItsVersionsDirectivesAndItsBackports(t *testing.T) {
	for _, test := range []struct {
		directive, value string
		has, lacks       string // targets
	}{
		{"Restart", "on-failure", "rhel8 debian11 v262", ""},
		{"OOMPolicy", "stop", "ubuntu20.04 debian11", "rhel8"},
		{"ExecCondition", "", "rhel8 debian11", ""},
		{"ProtectClock", "yes", "ubuntu20.04 debian11", "rhel8"},
		{"LoadCredential", "", "debian11 ubuntu22.04", "rhel8 ubuntu20.04"},
		{"PrivateIPC", "yes", "ubuntu22.04 debian12", "rhel8 debian11"},
		{"Type", "notify", "rhel8 v262", ""},
		{"Type", "notify-reload", "rhel9 debian13 ubuntu24.04 v255", "rhel8 debian11 debian12 ubuntu22.04 v252"},
		{"ReloadSignal", "SIGHUP", "rhel9 v253", "debian12 v252"},
		{"RestartSteps", "5", "v254 ubuntu24.04 debian13 rhel10", "rhel9 debian12 v253"},
		{"RestartMode", "direct", "v254 rhel10", "rhel9 debian12"},
		{"RestartMode", "debug", "v257 rhel10", "v256 ubuntu24.04"},
		{"PrivateTmp", "disconnected", "v257", "v256 debian12"},
		{"PrivateTmp", "yes", "rhel8", ""},
		{"StartLimitIntervalSec", "infinity", "debian11 v247", "ubuntu20.04 rhel8"},
		{"StartLimitIntervalSec", "10s", "ubuntu20.04 rhel8", ""},
		{"RestartRandomizedDelaySec", "1s", "v262", "v261 debian13"},
		{"MemoryLimit", "1G", "rhel8 debian12 v257", "v258 v262"},
		{"RestartSpeed", "9", "", "v262"},
		{"X-Anything", "9", "rhel8", ""},
	} {
		for _, name := range strings.Fields(test.has) {
			if target := profile(t, name); !target.Has(test.directive) || !target.HasValue(test.directive, test.value) {
				t.Errorf("%s lacks %s=%s", target, test.directive, test.value)
			}
		}
		for _, name := range strings.Fields(test.lacks) {
			if target := profile(t, name); target.HasValue(test.directive, test.value) {
				t.Errorf("%s has %s=%s", target, test.directive, test.value)
			}
		}
	}
}

func TestTargetsLackWhatCameLater(t *testing.T) {
	for name, want := range map[string]string{
		"rhel8": "OOM policy 243, abort time-out 243, credentials 247, start limit without end 247, hardening 248, notify-reload 253, " +
			"restart ladder 254, news of each failure 254, forgetting of failures 258, restart jitter 262",
		"rhel9": "restart ladder 254, news of each failure 254, forgetting of failures 258, restart jitter 262",
		"v258":  "restart jitter 262",
		"v262":  "",
	} {
		var lacks []string
		for _, c := range profile(t, name).Lacks() {
			lacks = append(lacks, fmt.Sprintf("%s %d", c.Name, c.Since()))
		}
		if got := strings.Join(lacks, ", "); got != want {
			t.Errorf("%s lacks %s\nwant %s", name, got, want)
		}
	}
}

// TestCapabilitiesAreAllThatTheTargetsDifferIn reads every younger directive
// that the source of this package knows by its name.
func TestCapabilitiesAreAllThatTheTargetsDifferIn(t *testing.T) {
	told := map[string]bool{}
	for _, c := range capabilities {
		if c.Since() <= oldestSystemd {
			t.Errorf("%s is no difference: every target has it", c.Name)
		}
		for _, need := range c.Needs {
			directive, _, _ := strings.Cut(need, "=")
			told[directive] = true
		}
	}
	// A directive that needs no word: nothing is lost where it is missing.
	for _, target := range []string{"v262", "debian13", "debian12"} {
		for _, hardening := range []string{"off", "strict"} {
			result, err := Generate(mustRead(t, full+"\nhardening: "+hardening+"\non_give_up: [a.service]\n"), profile(t, target), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(result.Files[0].Text)) {
				directive, _, _ := strings.Cut(line, "=")
				if since, known := firstVersions[directive]; known && since > oldestSystemd && !told[directive] {
					t.Errorf("%s= came with %d, and no capability tells of it", directive, since)
				}
			}
		}
	}
}

func TestMachineIsItsDistributionIfItsSystemdIs(t *testing.T) {
	for _, test := range []struct {
		host Host
		want string
	}{
		{Host{252, "debian", "", "12"}, "debian12"},
		{Host{247, "debian", "", "11"}, "debian11"},
		{Host{254, "debian", "", "12"}, "v254"}, // of the backports
		{Host{262, "debian", "", ""}, "v262"},   // sid has no VERSION_ID
		{Host{252, "raspbian", "debian", "12"}, "v252"},
		{Host{255, "ubuntu", "debian", "24.04"}, "ubuntu24.04"},
		{Host{257, "ubuntu", "debian", "25.04"}, "v257"},
		{Host{252, "rhel", "fedora", "9.4"}, "rhel9"},
		{Host{252, "rhel", "fedora", "9.10"}, "rhel9"},
		{Host{252, "rhel", "fedora", "9.3"}, "v252"},
		{Host{252, "almalinux", "rhel centos fedora", "9.6"}, "rhel9"},
		{Host{252, "rocky", "rhel centos fedora", "9.0"}, "v252"},
		{Host{252, "ol", "fedora", "9.5"}, "rhel9"},
		{Host{252, "centos", "rhel fedora", "9"}, "rhel9"},
		{Host{257, "centos", "rhel fedora", "10"}, "rhel10"},
		{Host{257, "rhel", "centos fedora", "10.1"}, "rhel10"},
		{Host{239, "rhel", "fedora", "8.10"}, "rhel8"},
		{Host{239, "rhel", "fedora", "8.6"}, "v239"},
		{Host{252, "amzn", "fedora", "2023"}, "v252"},
		{Host{259, "arch", "", ""}, "v259"},
		{Host{262, "", "", ""}, "v262"},
		{Host{270, "fedora", "", "50"}, "v262"},
		{Host{252, "rhel", "", "9.x"}, "v252"},
	} {
		got, err := HostTarget(test.host)
		if err != nil || got.Name != test.want {
			t.Errorf("%+v: got %v, %v; want %s", test.host, got, err, test.want)
		}
	}
	if got, err := HostTarget(Host{219, "rhel", "", "7.9"}); err == nil {
		t.Errorf("systemd 219 is %v", got)
	}
}

// TestTableOfDirectivesIsTheOneOfTheVersions compares the table with another
// one of the same facts, made otherwise: section, directive, first version.
func TestTableOfDirectivesIsTheOneOfTheVersions(t *testing.T) {
	name := os.Getenv("SVCKIT_DIRECTIVES")
	if name == "" {
		t.Skip("SKIP: SVCKIT_DIRECTIVES names no table of systemd's directives (section, directive, first version) to compare with")
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	compared := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		sections := []string{"Unit", "Service", "Install", "Socket", "Timer"}
		if len(fields) < 3 || !slices.Contains(sections, fields[0]) || strings.Contains(lines.Text(), "REMOVED") || strings.Contains(lines.Text(), "IGNORED") {
			continue
		}
		_, newest, _ := strings.Cut("-"+strings.TrimPrefix(fields[2], "<="), "-")
		if _, last, ok := strings.Cut(newest, "-"); ok {
			newest = last
		}
		want, err := strconv.Atoi(newest)
		got, known := firstVersions[fields[1]]
		if err != nil || !known || max(got, oldestSystemd) != max(want, oldestSystemd) {
			t.Errorf("%s: got %d, want %s", fields[1], got, fields[2])
		}
		compared++
	}
	if compared < 700 {
		t.Errorf("only %d directives compared", compared)
	}
}
