//go:build !race

package sandbox_test

const raced = false
