//go:build race

package main

// raced: the race detector makes the engine of handlers, which is one large Go
// program, some twenty times slower.
const raced = true
