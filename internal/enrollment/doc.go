// Package enrollment is the pages where users store credentials of their own: one
// page for each question of a call, and a list of what is stored.
//
// It does not know MCP, calls, nor how a credential is sent. Who opens a page is who
// the issuer says, and has to be who asked: whoever is sent the page of somebody else
// would store a credential for that other (MCP, client/elicitation, "Phishing").
//
// A call that lacks a credential asks here, through app; the vault has what was stored.
package enrollment
