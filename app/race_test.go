//go:build race

package app

// callsToCross is how many calls try to get the token of somebody else.
const callsToCross = 1_000

// slowDocuments: the schemas of some documents take minutes with the race detector.
const slowDocuments = false
