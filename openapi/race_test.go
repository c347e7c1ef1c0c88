//go:build race

package openapi_test

// raced: the race detector makes everything some ten times slower.
const raced = true
