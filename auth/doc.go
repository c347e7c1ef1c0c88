// Package auth tells who calls an HTTP server: by API keys, and as an OAuth 2.1
// resource server by the access tokens of one issuer. It verifies JSON Web Tokens
// and asks the issuer about opaque ones, keeps the issuer's keys, and serves the
// metadata by which clients find the issuer.
//
// It does not know MCP, tools, or what a caller may do; it issues nothing and
// holds no session. What a request may do is decided by those who read its
// [Caller].
//
// It is at the beginning of the path of a call: [Authenticator.Authenticate] runs
// after host and origin of a request were allowed and before its body is read.
// Outgoing requests, to the issuer alone, leave through internal/egress.
//
// Rules of this package:
//
//   - A token is for this server, from its issuer, signed by a key that the issuer
//     publishes, and in time; else there is no caller. Nothing in a token says
//     where a key is.
//   - An issuer that cannot be asked does not make a token invalid: the answer is
//     503, not 401.
//   - No caller makes the issuer work without bound: keys are fetched at most once
//     in five seconds, introspections are bounded and their answers are kept.
//   - The token of a caller goes to its issuer and nowhere else. What another service
//     gets is what the issuer gives for it (RFC 8693).
//   - No error and no line of the log contains a token, a key or a secret.
package auth
