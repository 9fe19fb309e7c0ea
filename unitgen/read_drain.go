package unitgen

import (
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/svckit/svckit/drain"
)

// drainSection is the schema of drain:.
var drainSection = section[drain.Plan]{
	path: "drain", example: "{delay: 5s, steps: [TERM@30s], kill_wait: 5s}",
	fields: map[string]field[drain.Plan]{
		"pre_stop":         func(r *reader, v value, into *drain.Plan) { into.PreStop = r.command(v) },
		"pre_stop_timeout": func(r *reader, v value, into *drain.Plan) { r.duration(v, 0, &into.PreStopTimeout) },
		"delay":            func(r *reader, v value, into *drain.Plan) { r.duration(v, 0, &into.Delay) },
		"steps":            readSteps,
		"kill_wait":        func(r *reader, v value, into *drain.Plan) { r.duration(v, minKillWait, &into.KillWait) },
	},
}

// minKillWait is the least that svcrun takes.
const minKillWait = 100 * time.Millisecond

func readDrain(r *reader, v value, p *Policy) {
	drainSection.read(r, v, &p.Drain)
	_, hook := r.at["drain.pre_stop"]
	if r.says("drain.pre_stop_timeout") && !hook {
		r.failAt([]string{"drain.pre_stop_timeout"}, "drain.pre_stop_timeout has no effect without drain.pre_stop; add the hook, or remove it")
	}
}

func readSteps(r *reader, v value, into *drain.Plan) {
	items := r.items(v, "[TERM@30s]")
	if len(items) == 0 && v.Kind == yaml.SequenceNode {
		r.errorf(v.Node, "drain.steps is an empty list; write at least one step, such as [TERM@30s]")
		return
	}
	into.Steps = nil
	for _, item := range items {
		text, ok := r.text(item, "TERM@30s")
		if !ok {
			continue
		}
		if text == "main" {
			r.errorf(item.Node, `%s: main belongs to the step before it; quote the two as one, such as "QUIT@25s,main"`, item.path)
			continue
		}
		step, err := drain.ParseStep(text)
		if err != nil {
			r.errorf(item.Node, "%s: %w", item.path, err)
			continue
		}
		into.Steps = append(into.Steps, step)
	}
}
