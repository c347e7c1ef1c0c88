//go:build !race

package app

// callsToCross is how many calls try to get the token of somebody else.
const callsToCross = 10_000

// slowDocuments: the schemas of some documents take seconds.
const slowDocuments = true
