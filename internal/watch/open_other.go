//go:build !unix

package watch

// nonblocking is not needed: named pipes have names of their own.
const nonblocking = 0
