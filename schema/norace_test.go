//go:build !race

package schema_test

const raced = false
