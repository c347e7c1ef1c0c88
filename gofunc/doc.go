// Package gofunc makes tools of typed Go functions: a source like the others,
// whose description is the functions' types.
//
// It does not know the catalog, the gateway or any protocol. On the path of a
// description it stands beside openapi: types become schemas by package
// schema, and [Functions] is a [tenon.Source]. On the path of a call it is the
// handler: it decodes the arguments, calls the function and encodes what it
// returns, which the gateway then checks like every other response.
//
// A panic of a function ends its call, not the process. That holds for the
// goroutine of the call: one that the function starts itself has to recover by
// itself, since Go lets nobody else do so.
package gofunc
