package policy

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Factor is by how much one wait of a ladder exceeds the one before, in
// thousandths: exact where a float would not be.
type Factor int

// The range of factors: below, a ladder has thousands of steps; above, it has
// one whatever the factor.
const (
	minFactor Factor = 1010
	maxFactor Factor = 1000 * 1000
)

// DefaultFactor doubles.
const DefaultFactor Factor = 2000

// MaxSteps bounds a ladder's steps, given or computed from a factor.
const MaxSteps = 5000

// ParseFactor reads a decimal number with at most three digits after the point.
func ParseFactor(s string) (Factor, error) {
	whole, fraction, hasPoint := strings.Cut(s, ".")
	digits := whole + (fraction + "000")[:max(3, len(fraction))]
	n, err := strconv.ParseUint(digits, 10, 32)
	switch {
	case err != nil || whole == "" || hasPoint && fraction == "":
		return 0, fmt.Errorf("%q is no factor; write a number such as 2 or 1.5", s)
	case len(fraction) > 3:
		return 0, fmt.Errorf("factor %s is too fine; three digits after the point are read", s)
	case Factor(n) < minFactor || Factor(n) > maxFactor:
		return 0, fmt.Errorf("factor %s is out of range; it is 1.01 to 1000, and a wait that does not grow is cap equal to base", s)
	}
	return Factor(n), nil
}

// String is the factor as ParseFactor reads it.
func (f Factor) String() string {
	text := fmt.Sprintf("%d.%03d", int(f)/1000, int(f)%1000)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// StepsFor is how many steps a ladder needs so that no wait is more than
// factor times the one before: the smallest n with base * factor^n >= top. It
// counts with whole numbers: a logarithm may land on either side of one.
func StepsFor(base, top time.Duration, factor Factor) int {
	reached := big.NewInt(base.Microseconds())
	wanted := big.NewInt(top.Microseconds())
	up, down := big.NewInt(int64(factor)), big.NewInt(1000)
	steps := 0
	for reached.Cmp(wanted) < 0 && steps < MaxSteps {
		reached.Mul(reached, up)
		wanted.Mul(wanted, down)
		steps++
	}
	return steps
}
