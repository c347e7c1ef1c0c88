//go:build race

package schema_test

// raced: the race detector makes what one goroutine computes ten times slower
// and has nothing to find in it.
const raced = true
