package unitgen

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// bomb is a YAML document whose aliases, ten levels deep, would be a billion
// values if anybody wrote them out.
func bomb(leaf, open, closing string) string {
	var out strings.Builder
	out.WriteString("l0: &l0 " + leaf + "\n")
	for level := 1; level <= 10; level++ {
		fmt.Fprintf(&out, "l%d: &l%d %s", level, level, open)
		for i := range 8 {
			if open == "{" {
				fmt.Fprintf(&out, "k%d: ", i)
			}
			fmt.Fprintf(&out, "*l%d, ", level-1)
		}
		out.WriteString(closing + "\n")
	}
	return out.String()
}

// TestWhatIsReadOfAFileIsBounded reads files that want much memory, and some
// that would want all there is.
func TestWhatIsReadOfAFileIsBounded(t *testing.T) {
	const most = 400 << 20 // of all that is allocated; the largest file that is read takes half
	lists, mappings := bomb("x", "[", "]"), bomb("{user: a}", "{", "}")
	service := "name: x\nexec: /bin/x\n"
	for name, files := range map[string][]string{
		"50 MB":                         {strings.Repeat("a: b\n", 10<<20)},
		"50 MB of defaults":             {service, strings.Repeat("a: b\n", 10<<20)},
		"as many nodes as can be":       {"name: x\nexec: [" + strings.Repeat("a,", maxFile/2-20) + "]"},
		"as many keys as can be":        {service + manyKeys(100_000)},
		"as many documents as can be":   {strings.Repeat("a: b\n---\n", 100_000)},
		"lists of lists":                {service + lists + "env: *l10\n"},
		"mappings of mappings":          {service + mappings + "env: *l10\n"},
		"a bomb in each place":          {service + mappings + "ready: *l10\nlive: *l10\ndrain: *l10\nextra: *l10\nsockets: [*l10, *l9]\n"},
		"a bomb over a bomb":            {service + "env: *l10\n" + mappings, "env: *l10\n" + mappings},
		"mappings that hold themselves": {"&a {name: x, exec: /bin/x, env: *a, restart: *a}", "&b {env: *b, restart: *b}"},
		"lists that hold themselves":    {service + "sockets: &s [*s, *s, *s]\nstart_pre: &p [*p, *p]\n"},
		"deep":                          {service + "env: " + strings.Repeat("{a: ", 50_000)},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var defaults []Text
			for _, text := range files[1:] {
				defaults = append(defaults, Text{"d.yaml", []byte(text)})
			}
			_, err := Read("x.yaml", []byte(files[0]), defaults...)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("it was read")
			}
			checkPlaces(t, err)
			if used := after.TotalAlloc - before.TotalAlloc; used > most {
				t.Errorf("it took %d MB", used>>20)
			} else {
				t.Logf("%d MB: %.100s", used>>20, err)
			}
		})
	}
}

func manyKeys(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "k%d: \n", i)
	}
	return out.String()
}
