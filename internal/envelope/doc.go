// Package envelope writes results: the output schema that each envelope
// publishes, the JSON of a success and of a failure, the text copy for the model
// and the members of _meta.
//
// It does not know tools, calls, policies or protocols: bytes and plain structs
// come in, bytes go out; the gateway decides what is published.
//
// It follows output validation, so that its input is valid, and never decodes a
// value to encode it again. Each envelope has one file with its schema, its
// success and its failure.
package envelope
