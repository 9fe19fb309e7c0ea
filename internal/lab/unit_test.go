package lab

import (
	"maps"
	"strings"
	"testing"
)

func TestPropertiesKeepEqualSignsAndRepeatedNames(t *testing.T) {
	got := parseProperties("Id=a.service\nStatusText=\nExecStart={ path=/a ; argv[]=/a x=y }\nExecStart={ path=/b }\nno property\n")
	want := Properties{
		"Id": "a.service", "StatusText": "",
		"ExecStart": "{ path=/a ; argv[]=/a x=y }\n{ path=/b }",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestUnitNamesAreValidAndNeverRepeat(t *testing.T) {
	m := &Machine{}
	seen := map[string]bool{}
	for _, test := range []string{"TestX/a b#01", "TestX/a b#01", "", "Ünïcode/%n", strings.Repeat("long", 100)} {
		name := m.UnitName(test)
		rest, isService := strings.CutSuffix(name, ".service")
		if !isService || len(name) > 255 || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("%q makes %q, not a unit's name", test, name)
		}
		if seen[name] {
			t.Errorf("%q is given out twice", name)
		}
		seen[name] = true
	}
}

func TestPathsOfTheMachineStayBelowItsRoot(t *testing.T) {
	for path, want := range map[string]string{
		"/etc/x": "etc/x", "etc/x": "etc/x", "/../../etc/x": "etc/x", "/a/./b/../c/": "a/c",
	} {
		if got := relative(path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
}

func TestVersionIsTheLeadingNumber(t *testing.T) {
	for full, want := range map[string]int{
		"252.39-1~deb12u2": 252, "257": 257, "262~rc1": 262, "247.3-7+deb11u5": 247,
	} {
		if got := (&Machine{version: full}).Version(); got != want {
			t.Errorf("%s is version %d, want %d", full, got, want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	kept := &Tail{}
	for range maxTail {
		kept.Write([]byte("xy"))
	}
	kept.Write([]byte("the end"))
	if got := kept.String(); len(got) != maxTail || !strings.HasSuffix(got, "xythe end") {
		t.Errorf("%d bytes are kept, the last are %q", len(got), got[max(0, len(got)-20):])
	}
	if got := lastLines("a\nb\nc\n", 2); got != "b\nc" {
		t.Errorf("the last two lines are %q", got)
	}
}
