package history

import "testing"

func TestAStartThatAConditionIsAgainstIsNoRun(t *testing.T) {
	for message, want := range map[string]string{
		"Condition check resulted in X being skipped.":                                           "run",
		"x.service was skipped because of an unmet condition check (ConditionPathExists=/a(b)).": "skipped ConditionPathExists=/a(b)",
		"x.service was skipped because no trigger condition checks were met.":                    "skipped ",
		"x.service skipped, unmet condition check ConditionPathExists=!/a=b":                     "skipped ConditionPathExists=!/a=b",
		"x.service skipped, no trigger condition checks were met":                                "skipped ",
		"Started X was skipped because of an unmet condition check (fun).":                       "run",
		"Finished X skipped, unmet condition check y":                                            "run",
	} {
		fold := NewFold(unit)
		e := entry(t, "1s A started")
		e.Message, e.JobResult = message, "done"
		fold.Add(e)
		got := ""
		if skip := fold.Skipped(); skip != nil && skip.At.Equal(e.Time) && !skip.Assert {
			got = "skipped " + skip.Condition
		}
		if len(fold.Runs()) > 0 {
			got += "run"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
	fold := NewFold(unit)
	fold.Add(entry(t, "1s - start-failed assert"))
	if skip := fold.Skipped(); skip == nil || !skip.Assert || len(fold.Runs()) > 0 {
		t.Errorf("a failed assertion: %+v", skip)
	}
}
