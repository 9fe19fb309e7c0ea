package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// logTo is a log into a list.
func logTo(lines *[]string) *generatorLog {
	return &generatorLog{most: math.MaxInt, sinks: []sink{func(line string) error {
		*lines = append(*lines, line)
		return nil
	}}}
}

func TestLogIsNotFlooded(t *testing.T) {
	var lines []string
	log := logTo(&lines)
	log.most = maxLogLines
	for i := range 500 {
		log.say("line %d", i)
		log.say("the same")
	}
	if len(lines) != maxLogLines+1 || lines[1] != "the same" || lines[maxLogLines] != moreLinesText {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestWhoTriesByHandIsToldAll(t *testing.T) {
	var lines []string
	log := logTo(&lines)
	for i := range 500 {
		log.say("line %d", i)
	}
	if len(lines) != 500 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestLineIsOneAndNoLongerThanTheKernelTakes(t *testing.T) {
	for _, text := range []string{"a\nb\rc\x00d\x1b[31me\u0085f", "\xff\xfe", strings.Repeat("a", 5000), strings.Repeat("ä", 5000), strings.Repeat("\xff", 5000)} {
		var lines []string
		logTo(&lines).say("%s", text)
		if len(lines) != 1 || len(lines[0]) > maxLogLine+len("...") || !utf8.ValidString(lines[0]) || strings.ContainsAny(lines[0], "\n\r\x00\x1b\u0085") {
			t.Errorf("%.20q became %q", text, lines)
		}
	}
}

func TestFirstSinkThatTakesALineHasIt(t *testing.T) {
	var out bytes.Buffer
	refuses := func(string) error { return errors.New("no such file") }
	log := generatorLog{most: 1, sinks: []sink{refuses, writerLog(&out), func(line string) error { return fmt.Errorf("%s came to the third", line) }}}
	log.say("a line")
	if out.String() != "svckit: a line\n" {
		t.Errorf("it says %q", out.String())
	}
	(&generatorLog{most: 1, sinks: []sink{refuses}}).say("lost") // and nothing comes of it
}
