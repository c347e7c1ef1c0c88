//go:build !race

package tenontest_test

const raced = false
