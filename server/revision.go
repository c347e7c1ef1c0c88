package server

// The revisions of the protocol that answer differently. Modern requests say
// in _meta who asks and in which revision, each for itself; legacy ones begin
// with initialize and are told apart by nothing that matters here.
const (
	modernRevision       = "2026-07-28"
	newestLegacyRevision = "2025-11-25"
	// batchRevision is the only one that has batches.
	batchRevision = oldestHTTPRevision
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

// allRevisions are those that are served, newest first, as JSON. Whoever asks
// which there are, or names another one, is told all of them: a client that does
// not know the newest goes on with one that it knows.
const (
	allRevisions = `["` + modernRevision + `","` + newestLegacyRevision + `","2025-06-18","` + oldestHTTPRevision + `","2024-11-05"]`
)

// era is the form of a request.
type era uint8

const (
	legacy era = 1 << iota // 2025-11-25 and before
	modern                 // 2026-07-28 and after
)
