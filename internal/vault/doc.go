// Package vault keeps credentials of users, encrypted, each for one place that it
// may be sent to.
//
// It does not know how a user is recognized, what a credential opens, nor how it is
// sent.
//
// Calls of OpenAPI documents read it through app; the pages of internal/enrollment
// write it.
package vault
