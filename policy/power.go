package policy

import (
	"math"
	"math/big"
)

// longDouble is the precision of C's long double on amd64, in which the
// manager computes its delays. It shows: of 1s, 64s and 6 steps the fifth
// restart's 2^5 s comes out as 31.999999s.
const longDouble = 64

// geometric is base * (top/base)^(i/n) truncated to a whole number, as the
// manager computes it: quotients, power and product each rounded to a long
// double. glibc's powl is off by one unit in its last place now and then, so
// where the exact result is a whole number systemd may differ by one.
func geometric(base, top uint64, i, n int) uint64 {
	if whole, sure := estimate(base, top, i, n); sure {
		return whole
	}
	ratio := quotient(top, base)
	exponent := quotient(uint64(i), uint64(n))
	product := number(base)
	product.Mul(product, power(ratio, exponent))
	whole, _ := product.Uint64()
	return whole
}

// estimate computes in double precision, and is sure of the result unless it
// is so close to a whole number that rounding decides. It spares nearly every
// delay the long way, which takes a hundred times as long.
func estimate(base, top uint64, i, n int) (whole uint64, sure bool) {
	value := float64(base) * math.Pow(float64(top)/float64(base), float64(i)/float64(n))
	margin := 1e-6 + value*1e-12
	return uint64(value), math.Abs(value-math.Round(value)) > margin
}

// power is x^e for 0 < e < 1. It walks the binary digits of e: each next
// digit is worth the square root of what the one before was worth. The digits
// of a long double end, so the walk does.
func power(x, e *big.Float) *big.Float {
	const enough = 3 * longDouble
	one := big.NewFloat(1)
	result := new(big.Float).SetPrec(enough).SetInt64(1)
	worth := new(big.Float).SetPrec(enough).Set(x)
	rest := new(big.Float).Copy(e)
	for rest.Sign() > 0 {
		worth.Sqrt(worth)
		rest.Add(rest, rest)
		if rest.Cmp(one) >= 0 {
			result.Mul(result, worth)
			rest.Sub(rest, one)
		}
	}
	return result.SetPrec(longDouble)
}

func number(n uint64) *big.Float { return new(big.Float).SetPrec(longDouble).SetUint64(n) }

func quotient(a, b uint64) *big.Float { return number(a).Quo(number(a), number(b)) }
