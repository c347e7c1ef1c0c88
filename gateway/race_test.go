//go:build race

package gateway_test

// raced says that the race detector is on: it makes a pool forget at random.
const raced = true
