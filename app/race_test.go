//go:build race

package app

// callsToCross is how many calls try to get the token of somebody else.
const callsToCross = 1_000
