package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Exit codes: 0; 1 something could not be measured, or a goal was missed where
// -gate wants them all; 64 usage.
const exitUsage = 64

func main() {
	if len(os.Args) == 5 && os.Args[1] == "serve" {
		serve(os.Args[2], os.Args[3], os.Args[4])
		return
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(exitUsage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	code, err := apartOrHere(ctx, o)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	os.Exit(code)
}

// apartOrHere runs this program again, or is that one and measures.
func apartOrHere(ctx context.Context, o options) (code int, err error) {
	if os.Getenv(apartVariable) == "" {
		return apart(ctx)
	}
	setSessionNice(os.Getpid(), hurried)
	if err := compare(ctx, o, os.Stdout, os.Stderr); err != nil {
		return 1, err
	}
	return 0, nil
}

// runLimit is how long all of it may take.
const runLimit = 15 * time.Minute

// parse reads the command line.
func parse(args []string) (o options, err error) {
	bin := os.Getenv("SVCKIT_BIN")
	if bin == "" {
		bin = "bin"
	}
	var names []string
	for _, s := range scenarios() {
		names = append(names, s.name)
	}
	o.svcrun, o.svcgen, o.svcstat = filepath.Join(bin, "svcrun"), filepath.Join(bin, "svcgen"), filepath.Join(bin, "svcstat")
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is printed once, by main
	flags.IntVar(&o.rounds, "rounds", 12, "how often each is measured; start twice as often")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of the order in each round")
	flags.Func("only", "comma-separated, of "+strings.Join(names, ","), func(list string) error {
		o.only = strings.Split(list, ",")
		for _, name := range o.only {
			if !slices.Contains(names, name) {
				return fmt.Errorf("unknown scenario %q; there are %s", name, strings.Join(names, ", "))
			}
		}
		return nil
	})
	flags.IntVar(&o.many, "many", 50, "how many wrappers are weighed at once")
	flags.IntVar(&o.entries, "entries", 1_000_000, "of the journal that svcstat reads; a restart in a hundred")
	flags.DurationVar(&o.age, "age", 11*time.Second, "how long the wrappers have run before they are stopped")
	flags.DurationVar(&o.idle, "idle", 20*time.Second, "how long the wrappers are watched at rest")
	flags.BoolVar(&o.gate, "gate", false, "exit with 1 if a goal is missed")
	flags.BoolVar(&o.loud, "v", false, "show what the wrappers say")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 || o.rounds < 1 || o.many < 2 || o.idle <= 0 || o.entries < leastEntries {
		return o, fmt.Errorf("want flags only, -rounds of 1 or more, -many of 2 or more, -idle above 0, -entries of %d or more", leastEntries)
	}
	return o, nil
}

// compare measures and prints.
func compare(ctx context.Context, o options, out, progress io.Writer) error {
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.run(ctx, func(scenario string) { fmt.Fprintln(progress, "bench: measuring", scenario) }); err != nil {
		return err
	}
	b.report(out)
	if all := b.missed(); o.gate && len(all) > 0 {
		return fmt.Errorf("%d goals missed: %s", len(all), strings.Join(all, "; "))
	}
	return nil
}

// missed are the goals that are not met.
func (b *bench) missed() []string {
	return missed(b.samples, slices.Concat(readyMetrics(), wrapperMetrics(), generatorMetrics(), historyMetrics()))
}

// report prints the tables.
func (b *bench) report(w io.Writer) {
	fmt.Fprintf(w, "medians of %d rounds, many is %d, idle is %v, seed %d\nratios are to be compared; bare figures are of this machine at this moment\n",
		b.rounds, b.many, b.idle, b.seed)
	for _, m := range b.missing {
		fmt.Fprintln(w, "left out:", m)
	}
	if b.measured(readyMetrics()) {
		fmt.Fprint(w, "\nREADY=1 after the endpoint's first good answer; services that take 50 to 500 ms to start\n\n")
		writeReadiness(w, b.samples)
	}
	if b.measured(wrapperMetrics()) {
		fmt.Fprint(w, "\nsvcrun beside other wrappers\n\n")
		var names []string
		for _, c := range b.contenders {
			names = append(names, c.name)
		}
		writeTable(w, comparison(b.samples, wrapperMetrics(), names))
		fmt.Fprintln(w)
		writeExplanations(w, b.samples, wrapperMetrics())
	}
	if b.measured(generatorMetrics()) {
		fmt.Fprintf(w, "\nsvcgen as a generator of systemd's, beside one that does nothing\n\n")
		writeGenerators(w, b.samples)
	}
	if b.measured(historyMetrics()) {
		fmt.Fprintf(w, "\nsvcstat history, of one of %d services in a journal of %d entries\n\n", historyUnits, b.entries)
		writeHistories(w, b.samples)
	}
	if all := b.missed(); len(all) > 0 {
		fmt.Fprintf(w, "\ngoals missed:\n  %s\n", strings.Join(all, "\n  "))
	}
}

func (b *bench) measured(metrics []metric) bool {
	return slices.ContainsFunc(metrics, func(m metric) bool { return len(b.samples[m.key]) > 0 })
}
