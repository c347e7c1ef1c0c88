//go:build race

package tenontest_test

// raced: the race detector makes everything some ten times slower.
const raced = true
