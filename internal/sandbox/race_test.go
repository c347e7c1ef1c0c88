//go:build race

package sandbox_test

// raced: the race detector makes the engine, which is one large Go program,
// some twenty times slower, so that times and memory say nothing.
const raced = true
