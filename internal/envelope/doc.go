// Package envelope holds the forms of answers: the output schema that each shape
// publishes, the JSON that it makes of a success and of a failure, the copy for
// the model and the members of _meta.
//
// It does not know tools, calls, policies or protocols: bytes and plain structs
// come in, bytes go out, and who publishes what is decided above it.
//
// It stands behind output validation. What it is given was checked; nothing is decoded
// here in order to encode it again. Each shape has one file with its three
// sides next to each other: what is published, a success, a failure.
package envelope
