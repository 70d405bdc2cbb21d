package exercise

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"memwall/gpu/perf"
)

// parseGuess reads a guess in the exercise's unit.
func parseGuess(guess any, unit string) (float64, error) {
	value := 0.0
	switch g := guess.(type) {
	case nil:
		return 0, errors.New("give a number")
	case string:
		v, err := parseText(g, unit)
		if err != nil {
			return 0, err
		}
		value = v
	case perf.Figure:
		if !g.Known() {
			return 0, fmt.Errorf("the figure has no value: %s", g.Why)
		}
		value = g.Value
	default:
		v := reflect.ValueOf(guess)
		switch {
		case v.CanInt():
			value = float64(v.Int())
		case v.CanUint():
			value = float64(v.Uint())
		case v.CanFloat():
			value = v.Float()
		default:
			return 0, fmt.Errorf("a guess is a number or a text like %q, this is a %T", example(unit), guess)
		}
	}
	switch {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return 0, fmt.Errorf("%v is no number to compare with", value)
	case value == 0:
		return 0, errors.New("write a number above zero into the variable")
	}
	return value, nil
}

func example(unit string) string {
	switch unit {
	case "B":
		return "8.2 kB"
	case "s":
		return "1.5 ms"
	}
	return strings.TrimSpace("12 " + unit)
}

// parseText reads "33.6 MB", "≈ 1,024", "3.13ms", "2^10", "1e3 tokens".
func parseText(text, unit string) (float64, error) {
	s := strings.TrimSpace(strings.NewReplacer("\u00a0", " ", "\u202f", " ", "_", "", "−", "-", "²", "^2", "µ", "u", "μ", "u").Replace(text))
	s = strings.TrimLeft(s, "≈~≤≥<>= ")
	number, rest := splitNumber(s)
	if number == "" {
		return 0, fmt.Errorf("%q holds no number", text)
	}
	v, err := parseNumber(number)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", number)
	}
	scale, err := unitScale(strings.TrimSpace(rest), unit)
	if err != nil {
		return 0, err
	}
	return v * scale, nil
}

// splitNumber takes the longest prefix that looks like a number: digits, sign, point, commas, an exponent, a power.
func splitNumber(s string) (number, rest string) {
	i := 0
	for i < len(s) {
		c := s[i]
		exponent := (c == 'e' || c == 'E') && i > 0 && i+1 < len(s) && (isDigit(s[i+1]) || i+2 < len(s) && strings.IndexByte("+-", s[i+1]) >= 0 && isDigit(s[i+2]))
		sign := (c == '-' || c == '+') && (i == 0 || s[i-1] == 'e' || s[i-1] == 'E')
		power := c == '^' && i > 0 && i+1 < len(s) && isDigit(s[i+1])
		if !isDigit(c) && c != '.' && c != ',' && !exponent && !sign && !power {
			break
		}
		i++
	}
	return s[:i], s[i:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// parseNumber reads a number with commas between groups of three digits, or a power of two numbers.
func parseNumber(s string) (float64, error) {
	if base, exponent, ok := strings.Cut(s, "^"); ok {
		b, err1 := parseNumber(base)
		e, err2 := parseNumber(exponent)
		return math.Pow(b, e), errors.Join(err1, err2)
	}
	if whole, fraction, ok := strings.Cut(s, ","); ok && len(fraction) < 3 && !strings.ContainsAny(fraction, ".,") {
		s = whole + "." + fraction // a decimal comma: 33,6
	}
	return strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
}

// prefixes of units, decimal and binary.
var prefixes = []struct {
	name  string
	scale float64
}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}, {"", 1}}

// unitNames are what people write for a unit.
var unitNames = map[string][]string{
	"B":        {"B", "byte", "bytes", "Byte", "Bytes"},
	"FLOP":     {"FLOP", "FLOPs", "flop", "flops"},
	"FLOP/B":   {"FLOP/B", "FLOP/byte", "FLOPs/B", "FLOP per byte", "flop/b", "F/B"},
	"FLOP/s":   {"FLOP/s", "FLOPS", "FLOPs/s", "flop/s", "flops"},
	"s":        {"s", "sec", "second", "seconds"},
	"tokens":   {"tokens", "token", "tok", "rows"},
	"tokens/s": {"tokens/s", "token/s", "tok/s", "tokens per second", "tokens a second", "t/s", "/s"},
	"sectors":  {"sectors", "sector"},
	"floats":   {"floats", "float", "elements"},
	"bits":     {"bits", "bit"},
	"":         {},
}

// unitScale reads what stands behind the number; nothing means the exercise's own unit.
func unitScale(text, unit string) (float64, error) {
	if text == "" {
		return 1, nil
	}
	for _, name := range unitNames[unit] {
		for _, p := range prefixes {
			if text == p.name+name || text == p.name+" "+name {
				return p.scale, nil
			}
		}
	}
	if unit == "" {
		return 0, fmt.Errorf("the answer is a plain number, without %q", text)
	}
	return 0, fmt.Errorf("the answer is in %s, not in %q", unit, text)
}
