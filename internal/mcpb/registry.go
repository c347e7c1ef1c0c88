package mcpb

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// entry is the server.json of the MCP registry:
// https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json, as
// in version 1.8.8 of the registry.
type entry struct {
	Schema      string         `json:"$schema"`
	Name        string         `json:"name"`
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description"`
	Version     string         `json:"version"`
	Packages    []entryPackage `json:"packages"`
}

type entryPackage struct {
	Type        string          `json:"registryType"`
	Identifier  string          `json:"identifier"`
	Version     string          `json:"version"`
	Sum         string          `json:"fileSha256"`
	Transport   entryTransport  `json:"transport"`
	Environment []entryVariable `json:"environmentVariables,omitempty"`
}

type entryTransport struct {
	Type string `json:"type"`
}

type entryVariable struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"isRequired"`
	Secret      bool   `json:"isSecret"`
}

const (
	entrySchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
	maxEntry    = 100 // bytes of title and description; the schema counts characters
)

// Listing is what a registry needs beyond the bundle.
type Listing struct {
	ID  string // such as io.github.me/shop
	URL string // of the bundle
	Sum string // its SHA-256
}

// The namespace is a name of a domain backwards; both parts end in letters or
// digits.
var listingID = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?/[a-zA-Z0-9]([a-zA-Z0-9._-]*[a-zA-Z0-9])?$`)

// Check refuses what the registry refuses.
func (l *Listing) Check() error {
	if !listingID.MatchString(l.ID) || len(l.ID) > 200 || !strings.Contains(strings.SplitN(l.ID, "/", 2)[0], ".") {
		return fmt.Errorf("the registry's name of a server is a domain backwards, a slash and a name, such as io.github.me/shop, not %q", l.ID)
	}
	u, err := url.Parse(l.URL)
	if err != nil || u.Scheme != "https" || u.User != nil {
		return errors.New("the URL of the bundle begins with https://")
	}
	host := strings.TrimPrefix(strings.ToLower(u.Host), "www.")
	if host != "github.com" && host != "gitlab.com" {
		return errors.New("the registry takes bundles from releases at github.com and gitlab.com only")
	}
	if !strings.Contains(strings.ToLower(l.URL), "mcp") {
		return errors.New("the registry wants mcp in the URL of a bundle, as its extension .mcpb has it")
	}
	return nil
}

// Entry is the server.json of a bundle.
func (m *Manifest) Entry(l *Listing, secrets []Secret) ([]byte, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	p := entryPackage{Type: "mcpb", Identifier: l.URL, Version: m.Release, Sum: l.Sum, Transport: entryTransport{"stdio"}}
	for _, s := range secrets {
		p.Environment = append(p.Environment, entryVariable{s.Variable, s.Description, s.Required, true})
	}
	return indented(entry{
		Schema: entrySchema, Name: l.ID, Title: Clipped(m.Title, maxEntry), Description: Clipped(m.Description, maxEntry), Version: m.Release, Packages: []entryPackage{p},
	})
}
