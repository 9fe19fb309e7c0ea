package syntax

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSizesAreReadAsSystemdReadsThem(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "1024": 1024, "1B": 1, "512M": 512 << 20, " 1 G ": 1 << 30, "1.5G": 3 << 29,
		"0.5K": 512, "1.9": 1, "1G 512M": 3 << 29, "1G512M": 3 << 29, "1T 1": 1<<40 + 1, "7E": 7 << 60,
		"9223372036854775806": math.MaxInt64 - 1,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestBadSizesAreRefusedWithTheCure(t *testing.T) {
	for text, want := range map[string]string{
		"":                     `empty size; write for example 512M`,
		" ":                    `empty size; write for example 512M`,
		"M":                    `bad size "M": a number is missing before "M"; write for example 512M`,
		"-1":                   `bad size "-1": a number is missing before "-1"; write for example 512M`,
		"infinity":             `bad size "infinity": a number is missing before "infinity"; write for example 512M`,
		"512m":                 `bad size "512m": unknown unit "m"; systemd writes M`,
		"1GB":                  `bad size "1GB": unknown unit "GB"; systemd writes G`,
		"1GiB":                 `bad size "1GiB": unknown unit "GiB"; systemd writes G`,
		"10%":                  `bad size "10%": unknown unit "%"; use B, K, M, G, T, P or E`,
		"1.":                   `bad size "1.": "1." is not a number`,
		".5G":                  `bad size ".5G": ".5" is not a number`,
		"1.2.3":                `bad size "1.2.3": "1.2.3" is not a number`,
		"1M 1G":                `bad size "1M 1G": the units come in falling order, each once, as in 1G 512M`,
		"1M 1M":                `bad size "1M 1M": the units come in falling order, each once, as in 1G 512M`,
		"8E":                   `bad size "8E": 8 is too large; the largest is below 8E`,
		"99999999999999999999": `bad size "99999999999999999999": 99999999999999999999 is too large; the largest is below 8E`,
	} {
		if got, err := ParseSize(text); err == nil || err.Error() != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %s", text, got, err, want)
		}
	}
}

func TestEverySizeIsReadBackFromItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "n")
		if shift := rapid.IntRange(0, 62).Draw(t, "shift"); rapid.Bool().Draw(t, "round") {
			n = n >> shift << shift
		}
		if got, err := ParseSize(FormatSize(n)); err != nil || got != n {
			t.Fatalf("%d is written %s and read %d, %v", n, FormatSize(n), got, err)
		}
	})
}

// FuzzParseSize holds what is taken against big numbers, and what is written
// against what is read.
func FuzzParseSize(f *testing.F) {
	for _, seed := range []string{"512M", "1.5G", "1G 512M", "7E", "1GB", "0.1K", "8191P", "1.99999999999999999999K", "1 2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseSize(text)
		if err != nil {
			return
		}
		if again, err := ParseSize(FormatSize(n)); err != nil || n < 0 || again != n {
			t.Fatalf("%q is %d, written %s, read %d, %v", text, n, FormatSize(n), again, err)
		}
		plain := strings.TrimSpace(text)
		for _, u := range sizeUnits {
			number, ok := strings.CutSuffix(plain, u.name)
			r, isNumber := new(big.Rat).SetString(number)
			if !ok || !isNumber || strings.Trim(number, "0123456789.") != "" || len(number) > 15 {
				continue
			}
			r.Mul(r, new(big.Rat).SetInt64(u.bytes))
			exact, _ := r.Float64()
			// A float has 53 bits; the cut costs one.
			if math.Abs(exact-float64(n)) > 1+exact/(1<<52) {
				t.Fatalf("%q is %d; exactly it is %f", text, n, exact)
			}
		}
	})
}
