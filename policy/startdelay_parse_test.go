package policy

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestStartDelayIsRead(t *testing.T) {
	const s = time.Second
	for text, want := range map[string]StartDelay{
		"base=1s,cap=60s,steps=6,jitter=none,storm=5/30s/60s": {Ladder{s, 60 * s, 6}, NoJitter, Storm{5, 30 * s, 60 * s}},
		"storm=5/30s/1min,steps=6,jitter=25%,cap=1min,base=1": {Ladder{s, 60 * s, 6}, QuarterJitter, Storm{5, 30 * s, 60 * s}},
		"base=1s,cap=60s,steps=6,jitter=full":                 {Ladder: Ladder{s, 60 * s, 6}, Jitter: FullJitter},
		"base=5s":                                             {Ladder: Flat(5 * s)},
		"base=1s,cap=1min 5s":                                 {Ladder: Ladder{s, 65 * s, 7}},
		"base=1s,cap=1s":                                      {Ladder: Flat(s)},
		"base=1s,cap=1s,steps=6":                              {Ladder: Ladder{s, s, 6}},
		"base=1s,cap=60s,steps=0":                             {Ladder: Ladder{s, 60 * s, 0}},
		"storm=1000/1ms/7d":                                   {Storm: Storm{1000, time.Millisecond, 7 * 24 * time.Hour}},
		"storm=3/1min/5min,jitter=full":                       {Jitter: FullJitter, Storm: Storm{3, 60 * s, 300 * s}},
	} {
		if got, err := ParseStartDelay(text); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v\nwant %+v", text, got, err, want)
		}
	}
}

func TestStartDelayIsWrittenAsOneWord(t *testing.T) {
	for text, want := range map[string]string{
		"storm=5/90s/60s,jitter=full,base=1s,cap=90s": "base=1s,cap=1min30s,steps=7,jitter=full,storm=5/1min30s/1min",
		"base=5s,jitter=none":                         "base=5s",
		"base=1s,cap=60s,steps=0":                     "base=1s,cap=1min,steps=0",
		"storm=5/30s/60s":                             "storm=5/30s/1min",
	} {
		if got := mustStartDelay(t, text).String(); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
	}
	if got := (StartDelay{}).String(); got != "" {
		t.Errorf("no start delay is written %q", got)
	}
}

func TestStartDelayIsReadBackUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := startDelays(t)
		if got, err := ParseStartDelay(d.String()); err != nil || got != d {
			t.Fatalf("%+v is written %s and read back as %+v, %v", d, d, got, err)
		}
	})
}

func TestBadStartDelaysAreRefusedWithTheCure(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "empty start delay; write for example base=1s,cap=60s,steps=6,jitter=25%,storm=5/30s/60s",
		" ":                          "empty start delay",
		"1s":                         `"1s" is not NAME=VALUE; write for example base=1s`,
		"base=1s,":                   `"" is not NAME=VALUE`,
		"base=1s,base=2s":            "base is there twice",
		"base=":                      "base: empty duration",
		"base=0":                     "base: 0 is out of range; write 1ms to 7d, or leave it out for none",
		"base=999us":                 "base: 999us is out of range",
		"base=8d":                    "base: 8d is out of range",
		"base=infinity":              "base: infinity is out of range",
		"base=-1s":                   "base: negative duration",
		"base=1s,cap=1M":             "cap: bad duration \"1M\": a month?",
		"base=2s,cap=1s":             "cap 1s is below base 2s; write cap=2s or more, or lower base",
		"cap=60s":                    "write base= as well",
		"steps=6,storm=5/30s/60s":    "write base= as well",
		"base=1s,steps=6":            "steps lead to no cap; write cap= as well",
		"base=1s,cap=60s,steps=-1":   `steps: "-1" steps; write a whole number from 0 (flat) to 5000`,
		"base=1s,cap=60s,steps=5001": "from 0 (flat) to 5000",
		"base=1s,cap=60s,steps=six":  `steps: "six" steps`,
		"jitter=full":                "jitter alone has nothing to spread",
		"base=1s,jitter=50%":         `jitter: "50%" is no jitter; write none, 25% (up to so much is added) or full (random between 0 and the delay)`,
		"storm=5":                    `storm: "5" is not FAILURES/HALF-LIFE/PAUSE; write for example 5/30s/60s`,
		"storm=5/30s/60s/1s":         "is not FAILURES/HALF-LIFE/PAUSE",
		"storm=0/30s/60s":            `storm: "0" failures; write a whole number from 1 to 1000`,
		"storm=1001/30s/60s":         "from 1 to 1000",
		"storm=x/30s/60s":            `"x" failures`,
		"storm=5/0/60s":              "storm: half-life: 0 is out of range",
		"storm=5/30s/8d":             "storm: pause: 8d is out of range",
		"max=60s":                    `unknown part "max"; here it is called cap`,
		"Max_Delay=60s":              `here it is called cap`,
		"RestartMaxDelaySec=60s":     `here it is called cap`,
		"delay=1s":                   `unknown part "delay"; here it is called base`,
		"factor=2":                   `unknown part "factor"; here it is called steps: how many it takes from base to cap`,
		"random=1s":                  "here it is called jitter",
		"half-life=1s":               "write storm=FAILURES/HALF-LIFE/PAUSE",
		"stroms=5/30s/60s":           "did you mean storm",
		"Base=1s":                    "did you mean base",
		"colour=red":                 `unknown part "colour"; they are base, cap, steps, jitter, storm`,
		strings.Repeat("x", 9999):    `is not NAME=VALUE`,
	} {
		if d, err := ParseStartDelay(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("start delay %.60q: got %v, %v; want an error with\n%s", text, d, err, want)
		} else if len(err.Error()) > 200 {
			t.Errorf("start delay %.60q: an error of %d bytes", text, len(err.Error()))
		}
	}
}

// FuzzParseStartDelay takes any text: what is accepted is within the bounds,
// and is written so that it is read back the same.
func FuzzParseStartDelay(f *testing.F) {
	for _, seed := range []string{startDelayExample, "base=5s", "storm=5/30s/1min", "base=1s,cap=1h,jitter=full", "max=1", "base=1s,cap=9s,steps=0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseStartDelay(text)
		if err != nil {
			return
		}
		l := d.Ladder
		if l.Base < 0 || l.Cap < l.Base || l.Cap > maxSpan || l.Steps < 0 || l.Steps > MaxSteps {
			t.Fatalf("%q is read as the ladder %+v", text, l)
		}
		if got, err := ParseStartDelay(d.String()); err != nil || got != d {
			t.Fatalf("%q is read as %+v, written %s, and read back as %+v, %v", text, d, d, got, err)
		}
	})
}
