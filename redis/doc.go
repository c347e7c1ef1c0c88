// Package redis is a tenon.Store in Redis or Valkey, which replicas share: one server,
// a cluster, or servers that sentinels watch.
//
// It does not know what the values are, and keeps nothing of its own: a replica that
// starts anew finds what the others left. Keys are digests, so that no name of a
// caller is in the store; large values are compressed.
//
// It stands behind the gateway, where package internal/memstore is otherwise.
package redis
