package watchdog

import (
	"fmt"
	"strings"

	"github.com/svckit/svckit/internal/syntax"
)

// foreignOptions are other programs' names for what svckit calls otherwise,
// in lower case and without - and _.
var foreignOptions = map[string]string{
	"period": "interval", "periodseconds": "interval", "every": "interval",
	"retries": "failures", "threshold": "failures", "failurethreshold": "failures", "unhealthythreshold": "failures",
	"successthreshold": "successes", "healthythreshold": "successes",
	"timeoutseconds": "timeout", "onfail": "on-unhealthy", "onfailure": "on-unhealthy",
	"maxage": "max-age", "freshness": "max-age", "skipverify": "insecure", "tlsskipverify": "insecure", "insecureskipverify": "insecure",
	"headers": "header", "httpheaders": "header", "expectedstatus": "status", "statuscode": "status",
}

// startOptions are foreign names for the grace at the start, which is no
// option of a check: failures do not count before readiness.
var startOptions = map[string]bool{
	"startperiod": true, "initialdelayseconds": true, "initialdelay": true, "startinterval": true,
}

// unknownOption says what the user of a wrong name most likely wants.
func unknownOption(name string) error {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	if meant, ok := foreignOptions[plain]; ok {
		return fmt.Errorf("unknown option %q; here it is called %s", name, meant)
	}
	if startOptions[plain] {
		return fmt.Errorf("unknown option %q; failures do not count before readiness, and the start timeout "+
			"(--start-timeout, in a policy ready.start_timeout) bounds the start", name)
	}
	names := make([]string, len(checkOptions))
	for i, known := range checkOptions {
		names[i] = known.name
		if plain == strings.ReplaceAll(known.name, "-", "") {
			return fmt.Errorf("unknown option %q; did you mean %s", name, known.name)
		}
	}
	if near, ok := syntax.Nearest(name, names); ok {
		return fmt.Errorf("unknown option %q; did you mean %s", name, near)
	}
	return fmt.Errorf(`unknown option %.40q; they are %s, and a comma within a value is written \,`, name, strings.Join(names, ", "))
}
