// Package exercise checks the guesses of the course. Check says how far a guess is from the answer and, where a likely
// mistake leads to that guess, which one; answers come from formulas over device profiles, never from a table of numbers.
// A new exercise is one row of exercises.
package exercise
