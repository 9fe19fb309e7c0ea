package cmdline

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

type (
	rootDocument struct {
		Schema int `json:"schema"`
		inner
		Parts  []partDocument    `json:"parts"`
		Last   *partDocument     `json:"last"`
		Words  map[string]string `json:"words"`
		Hidden string            `json:"-"`
		Note   string            `json:"note,omitempty"`
		Pause  *int              `json:"pause,omitempty"`
	}
	inner        struct{ At *time.Time }
	partDocument struct {
		Share float64       `json:"share"`
		Sub   []subDocument `json:"sub"`
	}
	subDocument struct {
		On bool `json:"on"`
	}
)

func TestAnAppTellsItsVerbsFlagsAndFields(t *testing.T) {
	app := &cli.App{Name: "prog", Commands: []*cli.Command{
		{
			Name: "make", Usage: "makes", UsageText: "prog make FILE [-o DIR]",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "o", Aliases: []string{"output"}, Usage: "write into `DIR`"},
				&cli.StringFlag{Name: "format", Value: "text", Usage: "print as `FORMAT`: text, csv or json"},
				&cli.BoolFlag{Name: "force", Usage: "overwrite"},
				&cli.StringSliceFlag{Name: "cause", Usage: "only that `CAUSE`"},
			},
		},
		{Name: "list", ArgsUsage: "[UNIT...]"},
		{Name: "secret", Hidden: true},
	}}
	got := OfApp(app, map[string]any{"make": rootDocument{}}, map[string][]string{"X": {"x"}})
	want := Program{
		Name: "prog",
		Flags: []Flag{
			{[]string{"help", "h"}, "", "show help", false, ""}, {[]string{"version", "v"}, "", "print the version", false, ""},
		},
		Verbs: []Verb{
			{"make", "makes", []string{"FILE"}, []Flag{
				{[]string{"output", "o"}, "DIR", "write into DIR", false, ""},
				{[]string{"format"}, "FORMAT", "print as FORMAT: text, csv or json", false, "text"},
				{[]string{"force"}, "", "overwrite", false, ""},
				{[]string{"cause"}, "CAUSE", "only that CAUSE", true, ""},
			}, "make"},
			{"list", "", []string{"[UNIT...]"}, nil, ""},
		},
		Objects: []Object{
			{"make", []Field{
				{"schema", "integer"}, {"At", "time or null"}, {"parts", "array of part"}, {"last", "part or null"},
				{"words", "object of string"}, {"note", "string, left out if empty"},
				{"pause", "integer, left out if there is none"},
			}},
			{"part", []Field{{"share", "number"}, {"sub", "array of sub"}}},
			{"sub", []Field{{"on", "boolean"}}},
		},
		Choices: map[string][]string{"X": {"x"}, "FORMAT": {"text", "csv", "json"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var told bytes.Buffer
	if err := got.Tell(&told); err != nil {
		t.Fatal(err)
	}
	if read, err := Read(&told); err != nil || cmp.Diff(want, read) != "" {
		t.Errorf("what was told reads as\n%+v\n%v", read, err)
	}
}

func TestAPlaceholderThatListsWordsIsAChoice(t *testing.T) {
	p := Program{Choices: map[string][]string{"FORMAT": {"text", "json"}}}
	for value, want := range map[string][]string{"fail|success": {"fail", "success"}, "FORMAT": {"text", "json"}, "D": nil} {
		if got := p.ChoicesOf(Flag{Value: value}); cmp.Diff(want, got) != "" {
			t.Errorf("%s has the choices %q, want %q", value, got, want)
		}
	}
}

func TestFlagsThatMostVerbsHaveAreCommon(t *testing.T) {
	utc, own := Flag{Names: []string{"utc"}}, Flag{Names: []string{"own"}}
	three := []Verb{{Name: "a", Flags: []Flag{utc, own}}, {Name: "b", Flags: []Flag{utc}}, {Name: "c", Flags: []Flag{utc}}}
	for want, verbs := range map[int][]Verb{
		0: three[:2],
		1: append(three, Verb{Name: "d"}, Verb{Name: "e"}),
	} {
		if got := (Program{Verbs: verbs}).CommonFlags(); len(got) != want || want == 1 && !got[0].Equal(utc) {
			t.Errorf("of %d verbs the flags %v are common, want %d", len(verbs), got, want)
		}
	}
	if got := (Program{Verbs: three}).Without(own); cmp.Diff([]string{"b", "c"}, got) != "" {
		t.Errorf("%q are without --own", got)
	}
}
