// Package tenon turns descriptions of services into MCP tools whose answers
// keep the output schema that they published.
//
// # One idea
//
//	description ──read──▶ Tool ──freeze──▶ Catalog ──serve──▶ MCP
//	                       │
//	                       └─ Handler: the only thing that differs between sources
//
// It has a compiler's shape: front ends that read (openapi and its siblings),
// one middle form ([Tool] in a frozen [Catalog]), back ends that serve
// (server). Everything before a Tool is reading, everything after it is
// serving, and no room stands on both sides. This package holds the middle
// form and the path of a call. It does not know MCP, HTTP servers, document
// formats or credentials.
//
// # Words
//
// Each word has one meaning in this module:
//
//   - source: reads one description and offers tools
//   - description: what a source reads, such as an OpenAPI document
//   - tool: a name, texts, a promise and a handler
//   - promise, contract: the schemas of what goes in and of every declared answer
//   - catalog: the frozen set of tools that is served
//   - gateway: performs calls; both walls stand in it
//   - call, reply, result: what a client asks; what the source got; what the client gets
//   - wall one, wall two: arguments against the input schema; the reply against the contract
//   - verdict: how a reply stands to its contract
//   - policy: what is published and what a breach leads to
//   - shape: the form of structuredContent
//   - upstream: the service behind a tool; "server" is only our MCP face
//   - subject: on whose behalf a call is made
//
// # The path of a call
//
//  1. A door of server reads the request and makes a [Call].
//  2. [Gateway.Call] finds the tool in the catalog in force.
//  3. A token for the next part of an answer is answered from [State]; else
//     wall one validates the raw arguments against the input schema.
//  4. Consent is asked for where it is due, before anything is sent.
//  5. The tool's [Handler] asks the upstream and returns a [Reply]: status,
//     media type, headers, bytes.
//  6. Wall two picks the declared variant for that status and media type,
//     validates the bytes and gives a [Verdict].
//  7. A value above the tool's limit is cut into parts that fit as well.
//  8. The value gets the tool's [Shape], beside a text copy for the model and
//     _meta["tenon/contract"], which says what happened.
//  9. The door writes the [Result] once.
//
// No step decodes a value in order to encode it again: bytes are validated,
// spliced and escaped. So integers, number texts and key order arrive as the
// upstream wrote them.
//
// # Which room next
//
// To follow a description, read openapi from its Source; to follow a request,
// read server from its ServeHTTP; for the plan and its reasons see
// docs/architecture.md.
package tenon
