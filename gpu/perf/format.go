package perf

import (
	"math"
	"strconv"
	"strings"
)

// NotANumber stands where a value is not a number: a card must never print NaN or Inf as if it were a result.
const NotANumber = "not a number"

// prefixes of the SI, by power of a thousand; seconds use the ones below one.
var (
	bigPrefixes   = [...]string{"", "k", "M", "G", "T", "P", "E"}
	smallPrefixes = [...]string{"", "m", "µ", "n", "p"}
)

// Format writes a value with its unit as cards show it: three significant digits, a plain space before the unit and none
// before %. Traffic uses decimal prefixes (33.6 MB); capacities use FormatCapacity. Counts up to 99,999 are exact.
func Format(v float64, unit string) string {
	switch unit {
	case "s", "B", "B/s", "FLOP", "FLOP/s", "Hz", "/s":
		return formatScaled(v, unit)
	case "%":
		return FormatPercent(v)
	case "FLOP/B":
		return Significant(v) + " FLOP/B"
	case "":
		return FormatCount(v)
	default:
		return Significant(v) + " " + unit
	}
}

// Number writes a figure's value; a range is written as Range does, an absent figure as its reason.
func (f Figure) Number() string {
	if !f.Known() {
		if f.Why == "" {
			return "unknown"
		}
		return f.Why
	}
	if f.High > 0 && f.High != f.Low {
		return Range(f.Low, f.High, f.Unit)
	}
	return Format(f.Value, f.Unit)
}

// String is the number with its tag: "33.6 MB (MODELLED)".
func (f Figure) String() string {
	if !f.Known() {
		return f.Number()
	}
	return f.Number() + " (" + string(f.Tag) + ")"
}

// Significant writes three significant digits without an exponent where that stays readable: 0.750, 9.10, 62.5, 206, 1,840.
func Significant(v float64) string {
	if !finite(v) {
		return NotANumber
	}
	if v == 0 {
		return "0"
	}
	var scratch [32]byte
	e := strconv.AppendFloat(scratch[:0], math.Abs(v), 'e', 2, 64) // d.dde±xx: rounded before its exponent is read
	exponent := 0
	for _, c := range e[6:] {
		exponent = exponent*10 + int(c-'0')
	}
	if e[5] == '-' {
		exponent = -exponent
	}
	var out [40]byte
	b := out[:0]
	if v < 0 {
		b = append(b, '-')
	}
	d0, d1, d2 := e[0], e[2], e[3]
	switch {
	case exponent < -4 || exponent >= 9:
		b = append(b, d0, '.', d1, d2, 'e')
		return string(strconv.AppendInt(b, int64(exponent), 10))
	case exponent < 0:
		b = append(b, "0.0000"[:1-exponent]...)
		return string(append(b, d0, d1, d2))
	case exponent == 0:
		return string(append(b, d0, '.', d1, d2))
	case exponent == 1:
		return string(append(b, d0, d1, '.', d2))
	}
	digits := [9]byte{d0, d1, d2, '0', '0', '0', '0', '0', '0'}
	for i := 0; i <= exponent; i++ {
		if i > 0 && (exponent+1-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, digits[i])
	}
	return string(b)
}

// Trimmed is Significant without trailing zeros after the point: 16, 1.33, 62.5.
func Trimmed(v float64) string {
	s := Significant(v)
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// FormatPercent writes a share in percent with three significant digits at most: 100%, 62.5%, 0.4%.
func FormatPercent(v float64) string {
	if !finite(v) {
		return NotANumber
	}
	return Trimmed(v) + "%"
}

// WholePercent writes a share in whole percent, as headlines do; a share that is neither none nor all never reads 0 or 100.
func WholePercent(v float64) string {
	switch {
	case !finite(v):
		return NotANumber
	case v > 0 && v < 1:
		return "under 1%"
	case v < 100 && v > 99:
		return "99%"
	}
	return strconv.FormatFloat(math.Round(v), 'f', 0, 64) + "%"
}

// FormatCount writes a count: exact with commas up to 99,999, three significant digits with a prefix beyond.
func FormatCount(v float64) string {
	if !finite(v) {
		return NotANumber
	}
	if math.Abs(v) < 99_999.5 {
		if v == math.Trunc(v) {
			return groupThousands(strconv.FormatFloat(v, 'f', 0, 64))
		}
		return Significant(v)
	}
	return strings.TrimSuffix(formatScaled(v, ""), " ")
}

// FormatCapacity writes a size of memory with binary prefixes: 48 KiB, 2 MiB.
func FormatCapacity(bytes float64) string {
	if !finite(bytes) {
		return NotANumber
	}
	names := [...]string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for math.Abs(bytes) >= 1024 && i < len(names)-1 {
		bytes /= 1024
		i++
	}
	return Trimmed(bytes) + " " + names[i]
}

// Range writes a low and a high value with one unit, the prefix chosen by the high one: "9.10–11.4 µs".
func Range(low, high float64, unit string) string {
	if !finite(low) || !finite(high) {
		return NotANumber
	}
	scale, prefix := scaleOf(high, unit == "s")
	a, b := Significant(low/scale), Significant(high/scale)
	tail := " " + prefix + unit
	if unit == "%" {
		tail = "%"
	}
	if a == b {
		return a + tail
	}
	return a + "–" + b + tail
}

// Of writes a value and its roof with one unit: "3.26 of 4.80 TB/s".
func Of(v, roof float64, unit string) string {
	if !finite(v) || !finite(roof) {
		return NotANumber
	}
	scale, prefix := scaleOf(roof, unit == "s")
	return Significant(v/scale) + " of " + Significant(roof/scale) + " " + prefix + unit
}

func formatScaled(v float64, unit string) string {
	if !finite(v) {
		return NotANumber
	}
	scale, prefix := scaleOf(v, unit == "s")
	if scale == 1 && unit == "B" && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64) + " B"
	}
	return Significant(v/scale) + " " + prefix + unit
}

// scaleOf chooses the prefix under which three significant digits of v need no grouping: 999.6 µs becomes 1.00 ms.
func scaleOf(v float64, small bool) (scale float64, prefix string) {
	a := math.Abs(v)
	if a == 0 {
		return 1, ""
	}
	if small && a < 0.9995 {
		scale := 1.0
		for i := 0; i < len(smallPrefixes); i++ {
			if a/scale >= 0.9995 || i == len(smallPrefixes)-1 {
				return scale, smallPrefixes[i]
			}
			scale /= 1000
		}
	}
	scale = 1
	for i := 0; i < len(bigPrefixes); i++ {
		if a/scale < 999.5 || i == len(bigPrefixes)-1 || small {
			return scale, bigPrefixes[i]
		}
		scale *= 1000
	}
	return 1, ""
}

func groupThousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, point := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	return sign + whole
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
