// Package roll is the roll of the replicas that share a store: who is there, whether
// they agree in what has to be the same, and when clients hear that lists have changed.
//
// It does not know what is listed nor what a setting means: it compares digests, and
// calls who does.
//
// It stands beside the path of a call: package app joins it at the start and says when
// the catalog has changed. Decision 119 has the reasons.
//
// Rules of this package:
//
//   - Nothing waits for the store but the roll itself. Where it fails, a replica goes on
//     as one that is alone.
//   - Clients are told of lists that all replicas have, or after some seconds of those
//     of their own.
//   - What another replica did because it was asked to asks nobody.
package roll
