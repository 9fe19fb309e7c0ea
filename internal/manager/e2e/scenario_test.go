package e2e

import (
	"fmt"
	"strings"
)

// scenario is a story: services of one file, and what happens to them from
// outside, each cue when the one before it has come to pass.
type scenario struct {
	name     string
	services []service
	cues     []cue
	since    int  // the first systemd for which svcgen takes the policy
	inOrder  bool // what the services live through, one beside the other, is in the same order as well
}

// service is one service of a scenario.
type service struct {
	suffix string // of its name; empty where it is the only one
	policy string // beside the defaults
	runs   []string
	hook   bool // it is started by another one's failure only
}

// one is the services of a scenario that has but one.
func one(policy string, runs ...string) []service { return []service{{policy: policy, runs: runs}} }

// defaults are what the services of all scenarios have in common: short times,
// and no companion unit at each start, unless one is asked for.
const defaults = `defaults:
  working_dir: $DIR
  ready: {checks: [notify], start_timeout: 20s}
  restart: {base: 200ms, cap: 200ms, stable_after: infinity}
  drain: {steps: [TERM@5s], kill_wait: 500ms}
  install: {wanted_by: []}
`

// unit is the name of a service's unit in one staging of the scenario.
func (s service) unit(staged string) string { return staged + s.suffix + ".service" }

// record is where the service writes down what it lives through.
func (s service) record() string { return "record" + s.suffix }

// file is the policy file of the scenario: for services of that name, in a
// directory of their own.
func (s scenario) file(name, dir, program string) string {
	var text strings.Builder
	text.WriteString(defaults)
	for _, svc := range s.services {
		fmt.Fprintf(&text, "---\nname: $NAME%s\n", svc.suffix)
		if !strings.HasPrefix(svc.policy, "exec:") {
			fmt.Fprintf(&text, "exec: [%q, %q", program, dir)
			for _, run := range svc.runs {
				fmt.Fprintf(&text, ", %q", run)
			}
			text.WriteString("]\n")
		}
		fmt.Fprintf(&text, "env: {RECORD: %s}\n", svc.record())
		text.WriteString(svc.policy + "\n")
	}
	return strings.NewReplacer("$NAME", name, "$DIR", dir, "$SERVICE", program).Replace(text.String())
}
