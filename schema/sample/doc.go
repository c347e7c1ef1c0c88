// Package sample makes values from schemas and schemas from values.
//
// It does not know what the values are used for; a sample is valid, and nothing
// else is certain of it. It is a package of its own because documentation, tests and
// sources need samples, but no call does.
//
// It is beside the path of a description: examples in documentation, the tool
// that describes tools and the inference of output schemas use it.
package sample
