package server

// The revisions of the protocol that answer differently. Modern requests say
// in _meta who asks and in which revision, each for itself; legacy ones begin
// with initialize and are told apart by nothing that matters here.
const (
	modernRevision       = "2026-07-28"
	newestLegacyRevision = "2025-11-25"
	// oldestHTTPRevision is what a request means that has no version header:
	// the header came with 2025-06-18.
	oldestHTTPRevision = "2025-03-26"
)

// legacyRevision reports whether v is a revision with an initialize handshake
// that is served here. 2024-11-05 is one of them: what it lacks, its clients
// ignore.
func legacyRevision(v string) bool {
	switch v {
	case "2024-11-05", oldestHTTPRevision, "2025-06-18", newestLegacyRevision:
		return true
	}
	return false
}

// supportedRevisions is what an unknown version is answered with, newest
// first, as a JSON array.
const supportedRevisions = `["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]`

// modernRevisions is what server/discover lists: the revisions that a request
// may name in its _meta.
const modernRevisions = `["` + modernRevision + `"]`

// era is the form of a request.
type era uint8

const (
	legacy era = 1 << iota // 2025-11-25 and before
	modern                 // 2026-07-28 and after
)
