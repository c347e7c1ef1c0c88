//go:build !race

package schema_test

// raced says that the race detector is on: it makes a pool forget at random,
// and what one goroutine computes ten times slower.
const raced = false
