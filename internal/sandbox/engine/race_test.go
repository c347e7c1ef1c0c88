//go:build race

package engine_test

// raced: the engine is twenty times slower.
const raced = true
