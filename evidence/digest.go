package evidence

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Digest identifies the declared responses of an operation, whatever the order of their
// members and of the responses: evidence counts for these and no others.
func Digest(responses []tenon.ResponseSchema) string {
	all := slices.Clone(responses)
	slices.SortStableFunc(all, func(a, b tenon.ResponseSchema) int {
		return cmp.Or(cmp.Compare(a.Status, b.Status), cmp.Compare(a.MediaType, b.MediaType))
	})
	var text []byte
	for _, r := range all {
		text = append(append(append(append(text, r.Status...), 0), r.MediaType...), 0)
		if r.Open {
			text = append(text, "open"...)
		}
		if r.Schema != nil {
			canonical, err := rawjson.AppendCanonical(text, r.Schema)
			if err != nil { // it is not JSON, and stands for itself
				canonical = append(text, r.Schema...)
			}
			text = canonical
		}
		text = append(text, 0)
	}
	sum := sha256.Sum256(text)
	return hexOf(sum[:12])
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// safeMedia is a media type that a service sent and that is not declared, if it is a
// well-known one: a header can hold anything.
func safeMedia(sent string) string {
	essence, _, _ := strings.Cut(sent, ";")
	essence = strings.ToLower(strings.TrimSpace(essence))
	if essence == "" || slices.Contains([]string{
		"application/json", "application/problem+json", "application/hal+json", "application/vnd.api+json", "application/geo+json", "application/xml", "application/problem+xml",
		"application/x-ndjson", "application/jsonl", "application/json-seq", "application/octet-stream", "application/pdf", "application/zip", "application/gzip", "application/javascript", "application/yaml",
		"application/x-www-form-urlencoded", "multipart/form-data", "text/html", "text/plain", "text/xml", "text/csv", "text/css", "text/javascript", "text/event-stream", "text/markdown", "text/json",
		"image/png", "image/jpeg", "image/gif", "image/svg+xml", "image/webp",
	}, essence) {
		return essence
	}
	return otherMedia
}

const otherMedia = "other"
