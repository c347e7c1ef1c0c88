// Package gateway performs calls: it freezes the tools of all sources into a
// [Catalog], and takes each call through the same stages, so that no source
// can forget one.
//
// It does not know how descriptions are read, nor any protocol: sources return
// [tenon.Tool] values, transports bring a [tenon.Call] and write its
// [tenon.Result].
//
// # The path of a call
//
// One stage a file, in this order:
//
//  1. gateway.go finds the tool in the catalog in force; forward.go performs
//     the call of another tool where one stands for it.
//  2. reserved_args.go takes out the arguments that are not the tool's own, and
//     admit.go asks whoever may refuse the call: limits, the audit log. Then a
//     resume_token is answered by split.go or stream.go from the store.
//  3. validate_input.go validates the arguments against the input schema, and
//     coerces values that have one possible reading.
//  4. confirm.go asks for confirmation if the tool needs it, before anything is
//     sent.
//  5. invoke.go runs the [tenon.Handler], which returns a [tenon.Response]:
//     status, media type, headers, bytes.
//  6. validate_output.go picks the response schema for that status and media
//     type, validates the bytes and returns a [tenon.Verdict].
//  7. projection.go selects the part of the value that callers see.
//  8. split.go splits a value above the tool's limit into parts that are valid
//     as well; stream.go returns items as they arrive.
//  9. result.go puts the value into the tool's [tenon.Envelope], beside a text
//     copy for the model and _meta["tenon/contract"], which has the verdict.
//     error_result.go does so for failures, content.go for content that the
//     source made itself.
//
// observe.go tells [Observer] values of each call that has ended: the log is one.
//
// No stage decodes a value and encodes it again: bytes are validated, spliced
// and escaped. So integers, number texts and the order of keys stay as the
// upstream sent them.
package gateway
