package history

// Failed says whether the run, or the start that was refused, counts as a
// failure. Of a run of whose end nobody knows a thing that cannot be said.
func (r Run) Failed() bool {
	switch r.Cause {
	case "", Clean, StopRequested:
		return false
	case Unknown:
		return r.Result != "" && r.Result != "success"
	default:
		return true
	}
}

// markBursts marks the first failure of each burst: of failures in a row, each
// restarted by Restart=. The later ones, up to "start request repeated too
// quickly", may only be what the first has left behind.
func markBursts(runs []Run) {
	follows := func(i int) bool { // runs[i] fails as the automatic restart of a failure
		return i > 0 && i < len(runs) && runs[i].Start == Automatic && runs[i].Failed() && runs[i-1].Failed()
	}
	for i := range runs {
		runs[i].FirstFailure = follows(i+1) && !follows(i)
	}
}
