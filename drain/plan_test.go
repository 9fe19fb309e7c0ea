package drain

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svckit/svckit/internal/syntax"
)

func TestStepIsReadBackAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := Step{
			Signal:   syntax.Signal(rapid.IntRange(1, 64).Filter(func(n int) bool { return n != 9 && n != 32 && n != 33 }).Draw(t, "signal")),
			Wait:     time.Duration(rapid.Int64Range(0, int64(maxWait/time.Microsecond)).Draw(t, "wait")) * time.Microsecond,
			MainOnly: rapid.Bool().Draw(t, "main"),
		}
		back, err := ParseStep(step.String())
		if err != nil || back != step {
			t.Fatalf("ParseStep(%q) = %+v, %v; want %+v", step, back, err, step)
		}
	})
}

func TestStepIsReadAsPeopleWriteIt(t *testing.T) {
	for text, want := range map[string]Step{
		"TERM@30s":      {Signal: syntax.SIGTERM, Wait: 30 * time.Second},
		"SIGINT@5":      {Signal: syntax.SIGINT, Wait: 5 * time.Second},
		"QUIT@1min30s":  {Signal: syntax.SIGQUIT, Wait: 90 * time.Second},
		"TERM@10s,main": {Signal: syntax.SIGTERM, Wait: 10 * time.Second, MainOnly: true},
		"RTMIN+3@0":     {Signal: 37},
	} {
		if got, err := ParseStep(text); err != nil || got != want {
			t.Errorf("ParseStep(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestBadStepNamesThePartAndTheCure(t *testing.T) {
	for text, want := range map[string]string{
		"TERM":           "TERM@30s",
		"TREM@30s":       "did you mean TERM",
		"KILL@5s":        "leave it out",
		"TERM@5x":        "unknown unit",
		"TERM@infinity":  "at most 24h",
		"TERM@1M":        "write 1m or 30d",
		"TERM@5s,all":    "the only one is main",
		"":               "no time",
		"@30s":           "unknown signal",
		"TERM@-1s":       "negative",
		"TERM@5s,main,x": "unknown option",
	} {
		_, err := ParseStep(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseStep(%q) = %v; want an error with %q", text, err, want)
		}
	}
}

func TestBudgetIsTheSumOfEveryPhase(t *testing.T) {
	p := Plan{
		PreStop: []string{"/bin/true"}, PreStopTimeout: 10 * time.Second, Delay: 5 * time.Second,
		Steps:    []Step{{Signal: syntax.SIGINT, Wait: 5 * time.Second}, {Signal: syntax.SIGTERM, Wait: 20 * time.Second}},
		KillWait: 4 * time.Second,
	}
	if got, want := p.Budget(), 48*time.Second; got != want {
		t.Errorf("Budget = %v; want %v", got, want)
	}
	p.PreStop = nil
	if got, want := p.Budget(), 38*time.Second; got != want {
		t.Errorf("Budget without a hook = %v; want %v: no hook, no time for it", got, want)
	}
	if got, want := Default().Budget(), 40*time.Second; got != want {
		t.Errorf("Default().Budget() = %v; want %v", got, want)
	}
}

func TestBudgetCoversTheLongerOfTheTwoSoftPhases(t *testing.T) {
	p := Default()
	p.UnhealthySteps = []Step{{Signal: syntax.SIGQUIT, Wait: time.Minute}}
	if got, want := p.Budget(), 70*time.Second; got != want {
		t.Errorf("Budget = %v; want %v", got, want)
	}
	if got := p.SoftPhase(true)[0].Signal; got != syntax.SIGQUIT {
		t.Errorf("SoftPhase(unhealthy) begins with %v; want SIGQUIT", got)
	}
	if got := p.SoftPhase(false)[0].Signal; got != syntax.SIGTERM {
		t.Errorf("SoftPhase(requested) begins with %v; want SIGTERM", got)
	}
}
