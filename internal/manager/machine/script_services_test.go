package machine

import (
	"time"

	"github.com/svckit/svckit/internal/manager/plan"
	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/policy"
)

// simple is a service with limits that are easy to tell apart, and changes.
func simple(name string, changes ...func(*plan.Service)) plan.Service {
	s := plan.Service{
		Name: name + ".service",
		Main: plan.Command{Argv: []string{"/bin/" + name}},
		Restarts: policy.Restarts{
			Rules:  policy.Rules{Restart: policy.RestartOnFailure},
			Ladder: policy.Ladder{Base: time.Second, Cap: 4 * time.Second, Steps: 2},
		},
		StartTimeout: 90 * time.Second,
		StopTimeout:  30 * time.Second,
		AbortTimeout: 10 * time.Second,
		StopSignal:   syntax.SIGTERM,
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

// of is the plan of some services.
func of(services ...plan.Service) []plan.Service { return services }

func after(names ...string) func(*plan.Service) {
	return func(s *plan.Service) { s.After = append(s.After, fullNames(names)...) }
}

func requires(names ...string) func(*plan.Service) {
	return func(s *plan.Service) { s.Requires = append(s.Requires, fullNames(names)...) }
}

func onFail(names ...string) func(*plan.Service) {
	return func(s *plan.Service) { s.OnFail, s.EachFail = fullNames(names), true }
}

func fullNames(names []string) []string {
	var full []string
	for _, name := range names {
		full = append(full, name+".service")
	}
	return full
}
