// Command bench measures what svcrun promises in time, each beside what people
// glue today in the same run: a shell loop that asks once a second. It prints
// medians and their ratio; a bare time says nothing on another machine.
//
//	bench svcrun [-rounds N] [-seed N]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"
)

func main() {
	if len(os.Args) == 5 && os.Args[1] == "serve" {
		serve(os.Args[2], os.Args[3], os.Args[4])
		return
	}
	rounds := flag.Int("rounds", 15, "how often each is measured")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the services' start times")
	flag.Parse()
	bin := os.Getenv("SVCKIT_BIN")
	if bin == "" {
		bin = "bin"
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	err := readiness(ctx, os.Stdout, filepath.Join(bin, "svcrun"), *rounds, *seed)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// goal is how long after the endpoint's first good answer READY=1 may follow,
// in the median.
const goal = 20 * time.Millisecond

// readiness prints, for each kind of check, how long after its endpoint came up
// READY=1 arrived, and when a shell loop saw it.
func readiness(ctx context.Context, w io.Writer, svcrun string, rounds int, seed uint64) error {
	fmt.Fprintf(w, "READY after the endpoint is up; services that take 50 to 500 ms to start, %d rounds, seed %d\n\n", rounds, seed)
	random := rand.New(rand.NewPCG(seed, 0))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "check\tsvcrun, median\tp90\tshell loop, median\tsvcrun ÷ loop\tgoal 20ms\t")
	for _, kind := range []string{"http", "tcp", "unix", "file", "exec"} {
		var ours, theirs []time.Duration
		for range rounds {
			delay := time.Duration(50+random.IntN(450)) * time.Millisecond
			own, err := measure(ctx, kind, delay, underSvcrun(svcrun))
			if err != nil {
				return fmt.Errorf("%s under svcrun: %w", kind, err)
			}
			loop, err := measure(ctx, kind, delay, besideLoop)
			if err != nil {
				return fmt.Errorf("%s beside a shell loop: %w", kind, err)
			}
			ours, theirs = append(ours, own), append(theirs, loop)
		}
		met := map[bool]string{true: "met", false: "missed"}[at(ours, 50) <= goal]
		fmt.Fprintf(table, "%s\t%v\t%v\t%v\t%.3f\t%s\t\n", kind, ms(at(ours, 50)), ms(at(ours, 90)), ms(at(theirs, 50)),
			float64(at(ours, 50))/float64(at(theirs, 50)), met)
	}
	return table.Flush()
}

// at is a percentile of what was measured.
func at(all []time.Duration, percent int) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1fms", float64(d.Microseconds())/1000) }
