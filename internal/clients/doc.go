// Package clients knows which tools MCP clients and model APIs accept, and what of
// them they show to a model. The rules are data, clients.json: each names its
// client, what becomes of a tool that breaks it, a check with its parameters, a
// fix, its sources, and the day on which it was last verified.
//
// It does not know where tools come from and changes none of them; no client is
// asked, so a rule is as good as its source.
//
// It stands behind what is published: cmd/tenon hands it the lists of tools that
// servers give to clients, its own server among them.
package clients
