package plan

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestNoOrderHasACycle draws any orders, and starts what is left of them one
// service after the other.
func TestNoOrderHasACycle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		services := make([]Service, rapid.IntRange(1, 6).Draw(t, "services"))
		var names []string
		for i := range services {
			services[i].Name = strconv.Itoa(i)
			names = append(names, services[i].Name)
		}
		for i := range services {
			services[i].After = rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "after")
		}
		before := startable(services)
		wanted := 0
		for _, s := range services {
			wanted += len(s.After)
		}
		breakCycles(services)
		left := 0
		for _, s := range services {
			left += len(s.After)
			if len(s.Ignored) > 0 && before {
				t.Fatalf("there was no cycle, and %v is ignored", s.Ignored)
			}
			wanted -= len(s.Ignored)
		}
		if !startable(services) || left != wanted {
			t.Fatalf("of what is left nothing can start, or an order is lost: %+v", services)
		}
	})
}

// startable says whether all services can be started one after the other, each
// when those before it are.
func startable(services []Service) bool {
	var started []string
	for range services {
		for _, s := range services {
			waits := slices.ContainsFunc(s.After, func(name string) bool { return !slices.Contains(started, name) })
			if !waits && !slices.Contains(started, s.Name) {
				started = append(started, s.Name)
			}
		}
	}
	return len(started) == len(services)
}
