package history

import (
	"strings"
	"testing"
)

func TestSvcrunsDirectoriesAreFoundInItsCommandLine(t *testing.T) {
	for line, want := range map[string]Svcrun{
		"/usr/bin/svcrun --runtime-dir=/run/svckit/x --state-dir=/var/lib/svckit/x -- /bin/x": {"/var/lib/svckit/x", "/run/svckit/x"},
		"svcrun -state-dir /var/lib/x/ --ready=tcp:1 -- x":                                    {"/var/lib/x", ""},
		"svcrun --ready=tcp:1 -- x --state-dir=/of/the/service":                               {},
		"svcrun --state-dir=relative -- x":                                                    {},
		"svcrun --state-dir":                                                                  {},
		"svcrun":                                                                              {},
	} {
		if got, ok := ParseSvcrun(strings.Fields(line)); !ok || got != want {
			t.Errorf("%s: %+v, %v; want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "/usr/bin/svcrunner --state-dir=/x", "/usr/sbin/nginx --state-dir=/x"} {
		if got, ok := ParseSvcrun(strings.Fields(line)); ok || got != (Svcrun{}) {
			t.Errorf("%s: %+v, %v", line, got, ok)
		}
	}
}
