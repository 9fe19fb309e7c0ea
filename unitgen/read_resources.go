package unitgen

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svckit/svckit/internal/syntax"
	"github.com/svckit/svckit/unitgen/unit"
)

// resourcesSection is the schema of resources: limits of
// systemd.resource-control(5), and of systemd.exec(5) for nofile.
var resourcesSection = section[[]Setting]{
	path: "resources", example: "{memory_max: 1G, tasks_max: 512, nofile: 65536}",
	fields: map[string]field[[]Setting]{
		"memory_max":      resource("MemoryMax", "1G", memoryLimit),
		"memory_high":     resource("MemoryHigh", "800M", memoryLimit),
		"memory_swap_max": resource("MemorySwapMax", "0", memoryLimit),
		"tasks_max":       resource("TasksMax", "512", tasksLimit),
		"cpu_quota":       resource("CPUQuota", "150%", cpuQuota),
		"cpu_weight":      resource("CPUWeight", "100", weight),
		"io_weight":       resource("IOWeight", "100", weight),
		"nofile":          resource("LimitNOFILE", "65536", descriptors),
	},
}

// resource reads a limit that check finds right.
func resource(directive, example string, check func(string) error) field[[]Setting] {
	return func(r *reader, v value, into *[]Setting) {
		text, ok := r.text(v, example)
		if !ok {
			return
		}
		if err := check(text); err != nil {
			r.errorf(v.Node, "%s: %w", v.path, err)
			return
		}
		*into = append(*into, Setting{directive, unit.Value(text), r.position(v.Node)})
	}
}

// lookup is the value of a setting; false if there is none.
func lookup(settings []Setting, directive string) (Setting, bool) {
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Directive == directive })
	if i < 0 {
		return Setting{}, false
	}
	return settings[i], true
}

var percentage = regexp.MustCompile(`^([0-9]{1,9})(\.[0-9]{1,2})?%$`)

// memoryLimit is a size, a part of the machine's memory, or infinity.
func memoryLimit(s string) error {
	if s == "infinity" {
		return nil
	}
	if match := percentage.FindStringSubmatch(s); match != nil {
		if whole, err := strconv.Atoi(match[1]); err != nil || whole > 100 || whole == 100 && match[2] != "" {
			return fmt.Errorf("%s is more memory than there is; write at most 100%%", s)
		}
		return nil
	}
	_, err := syntax.ParseSize(s)
	return err
}

// leastTasks is what svcrun itself may need: its threads, a check and a hook.
const leastTasks = 32

func tasksLimit(s string) error {
	if percentage.MatchString(s) {
		return nil
	}
	n, err := strconv.Atoi(s)
	switch {
	case s == "infinity":
		return fmt.Errorf("without a limit a service that forks without end cannot be stopped; write a number, such as 4096")
	case err != nil:
		return fmt.Errorf("%s is no number of processes and threads; write one, such as 512", quoted(s))
	case n < leastTasks:
		return fmt.Errorf("%d is too low: svcrun and its checks are counted too; write %d or more", n, leastTasks)
	}
	return nil
}

// cpuQuota is the share of one processor; more than one are more than 100%.
func cpuQuota(s string) error {
	match := percentage.FindStringSubmatch(s)
	if match == nil || strings.Trim(s, "0.%") == "" {
		return fmt.Errorf("%s is no share of a processor; write 150%% for one and a half", quoted(s))
	}
	return nil
}

func weight(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 1 || n > 10000 {
		return fmt.Errorf("%s is no weight; write 1 to 10000, where 100 is everybody's", quoted(s))
	}
	return nil
}

// leastDescriptors is what svcrun itself may need.
const leastDescriptors = 64

// descriptors is a soft limit, or a soft and a hard one.
func descriptors(s string) error {
	soft, hard, two := strings.Cut(s, ":")
	if !two {
		hard = soft
	}
	most := []int{0, 0}
	for i, text := range []string{soft, hard} {
		n, err := strconv.Atoi(text)
		switch {
		case text == "infinity":
			n = int(syntax.Infinity)
		case err != nil:
			return fmt.Errorf("%s is no number of open files; write 65536, 1024:65536 or infinity", quoted(s))
		case n < leastDescriptors:
			return fmt.Errorf("%d is too low: svcrun and its checks open files too; write %d or more", n, leastDescriptors)
		}
		most[i] = n
	}
	if most[0] > most[1] {
		return fmt.Errorf("the soft limit %s is above the hard limit %s; write the lower one first", soft, hard)
	}
	return nil
}

// minRuntime is the least that a run may be limited to.
const minRuntime = time.Second

// readRuntimeMax reads how long the service may run; infinity is for ever.
func readRuntimeMax(r *reader, v value, p *Policy) {
	if text, ok := scalar(v); ok && text == "infinity" {
		p.RuntimeMax = 0
		return
	}
	const most = 366 * 24 * time.Hour
	r.spanUpTo(v, minRuntime, most, &p.RuntimeMax)
}
