package exercise

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"memwall/gpu"
	"memwall/gpu/perf"
)

// exercise is one question of the course.
type exercise struct {
	id       string // "01.3": notebook and number
	question string
	unit     string // of the answer: "B", "FLOP/B", "tokens", "tokens/s" …; "" for a plain number
	answer   func() float64
	// within is the relative distance up to which a guess is right: rounding and one digit less are no mistakes.
	within float64
	// formula says how the answer comes about, in words and numbers; shown with a right guess.
	formula func() string
	// start is the first step, shown with a wrong guess that no mistake explains.
	start    string
	mistakes []mistake
	// trial judges a CUDA kernel instead of a number: it launches the reader's function and says what it found.
	trial func(f *gpu.Function) (right bool, headline, why string)
	// update judges a Go function of the reader's: one step of an online softmax.
	update func(f func(m, l, x float64) (float64, float64)) (right bool, headline, why string)
	// choose judges so many whole numbers, of which several choices may be right.
	choose  func(values []int) (right bool, headline, why string)
	choices int
}

// exercises is the course's, in order.
var exercises = slices.Concat(
	theMemoryWall,
	readingWell,
	climbing,
	sharing,
	fewerBits,
	withoutMatrix,
	kvCache,
	paging,
)

// mistake is a way to go wrong and the number it leads to.
type mistake struct {
	leadsTo func() float64
	hint    string
}

// mistakeWithin is how near a guess must be to what a mistake leads to.
const mistakeWithin = 0.03

// Result is what Check says about a guess.
type Result struct {
	ID       string
	Question string
	Guess    float64
	Right    bool
	Ratio    float64 // guess ÷ answer; NaN where there is no guess
	Headline string  // "Right: 178 tokens."
	Why      string
}

// Check compares a guess with the answer of an exercise. A guess is a number (int, float, a figure of a report) or a text
// with an optional unit: "33.6 MB", "3.13 ms", "≈ 1,024"; exercises that ask for a CUDA kernel take the function of a
// %%cuda cell and launch it, one takes a Go function and calls it, those that ask for a choice take a []int. An unknown exercise
// is an error that lists those that there are.
func Check(id string, guess any) *Result {
	e := find(id)
	if e == nil {
		panic(&gpu.Error{What: fmt.Sprintf("exercise %q: there is no such exercise", id), How: "there are " + strings.Join(IDs(), ", ")})
	}
	r := &Result{ID: e.id, Question: e.question, Ratio: math.NaN()}
	if e.trial != nil {
		f, ok := guess.(*gpu.Function)
		if !ok || f == nil {
			r.Headline, r.Why = fmt.Sprintf("No kernel yet: it takes a function of a %%%%cuda cell, this is a %T.", guess), e.start
			return r
		}
		r.Right, r.Headline, r.Why = e.trial(f)
		return r
	}
	if e.update != nil {
		f, ok := guess.(func(m, l, x float64) (float64, float64))
		if !ok || f == nil {
			r.Headline, r.Why = fmt.Sprintf("No function yet: it takes a func(m, l, x float64) (float64, float64), this is a %T.", guess), e.start
			return r
		}
		r.Right, r.Headline, r.Why = e.update(f)
		return r
	}
	if e.choose != nil {
		values, ok := guess.([]int)
		if !ok || len(values) != e.choices {
			r.Headline, r.Why = fmt.Sprintf("No choice yet: it takes a []int of %d numbers, this is %v.", e.choices, guess), e.start
			return r
		}
		r.Right, r.Headline, r.Why = e.choose(values)
		return r
	}
	value, err := parseGuess(guess, e.unit)
	if err != nil {
		r.Headline, r.Why = "No guess yet: "+err.Error()+".", e.start
		return r
	}
	r.Guess = value
	e.judge(r)
	return r
}

// IDs lists the exercises.
func IDs() []string {
	out := make([]string, len(exercises))
	for i := range exercises {
		out[i] = exercises[i].id
	}
	return out
}

// Question is the text of an exercise, empty for an unknown one.
func Question(id string) string {
	if e := find(id); e != nil {
		return e.question
	}
	return ""
}

func find(id string) *exercise {
	for i := range exercises {
		if exercises[i].id == strings.TrimSpace(id) {
			return &exercises[i]
		}
	}
	return nil
}

// judge fills in the verdict: right, a known mistake, or how far off and where to begin.
func (e *exercise) judge(r *Result) {
	answer := e.answer()
	r.Ratio = r.Guess / answer
	said := e.show(r.Guess)
	if math.Abs(r.Ratio-1) <= e.within {
		r.Right = true
		r.Headline = "Right: " + e.show(answer) + "."
		if math.Abs(r.Ratio-1) > 1e-9 && said != e.show(answer) {
			r.Headline = fmt.Sprintf("Right: %s is near enough to %s.", said, e.show(answer))
		}
		r.Why = e.formula()
		return
	}
	r.Headline = fmt.Sprintf("Not yet: %s is %s.", said, distance(r.Ratio))
	r.Why = e.start
	for _, m := range e.mistakes {
		if math.Abs(r.Guess/m.leadsTo()-1) <= mistakeWithin {
			r.Why = m.hint
			return
		}
	}
}

// show writes a number of the exercise's unit.
func (e *exercise) show(v float64) string {
	switch e.unit {
	case "", "tokens", "tokens/s", "sectors", "floats", "bits":
		text := perf.Significant(v)
		if v == math.Trunc(v) && math.Abs(v) < 1e6 {
			text = fmt.Sprintf("%.0f", v)
		}
		return strings.TrimSpace(text + " " + e.unit)
	}
	return perf.Format(v, e.unit)
}

// distance says how far a ratio is from one: "12% too high", "3.1 times too low", "of the wrong sign".
func distance(ratio float64) string {
	switch {
	case ratio <= 0:
		return "zero or less, the answer is above zero"
	case ratio >= 2:
		return perf.Trimmed(ratio) + " times too high"
	case ratio > 1:
		return perf.WholePercent(100*(ratio-1)) + " too high"
	case ratio > 0.5:
		return perf.WholePercent(100*(1-ratio)) + " too low"
	}
	return perf.Trimmed(1/ratio) + " times too low"
}

// String is the verdict as text.
func (r *Result) String() string { return r.ID + "  " + r.Headline + "\n" + r.Why }

// MIMEBundle shows the verdict.
func (r *Result) MIMEBundle() map[string]any {
	glyph, colour := "○", "#a5c"
	if r.Right {
		glyph, colour = "●", "#086"
	}
	page := fmt.Sprintf(`<div style="border-left:3px solid %s;padding-left:8px"><span style="color:%s">%s</span> <b>%s</b> <span style="opacity:.8">exercise %s</span><br>%s</div>`,
		colour, colour, glyph, html.EscapeString(r.Headline), html.EscapeString(r.ID), strings.ReplaceAll(html.EscapeString(r.Why), "\n", "<br>"))
	return map[string]any{"text/plain": r.String(), "text/html": page}
}
