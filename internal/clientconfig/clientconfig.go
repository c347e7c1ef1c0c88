// Package clientconfig edits the configuration files of MCP clients: it adds a
// server, finds it, and removes it, and leaves everything else in the file byte for
// byte as it was.
//
// It does not know what the server serves, nor credentials: these never go into
// such a file.
//
// `tenon install` is its only user. clients.go says where the files are, json.go
// and toml.go edit texts, file.go reads and writes files.
package clientconfig

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Server is a server that a client starts as a process.
type Server struct {
	Name    string
	Command string
	Args    []string
}

// Ours reports whether tenon put a server into a file: its command is tenon, or
// what starts the package of that name, and it serves.
func (s *Server) Ours() bool {
	words := append([]string{s.Command}, s.Args...)
	at := slices.Index(words, "serve")
	return at > 0 && slices.ContainsFunc(words[:at], func(word string) bool {
		base := path.Base(strings.ReplaceAll(word, `\`, "/"))
		return base == "tenon" || strings.HasPrefix(base, "tenon.") || strings.HasPrefix(base, "tenon-") || strings.HasPrefix(base, "tenon@")
	})
}

// Errors that tell why a file is not edited. What they are wrapped in says which
// file.
var (
	ErrForeign = errors.New("there is a server of this name that tenon did not add; choose another name with --name")
	ErrNoEntry = errors.New("there is no server of this name")

	errNotEdited = errors.New("the file is written in a way that is not edited here; change it by hand")
)

// SyntaxError says where a file is broken.
type SyntaxError struct {
	Line, Column int // 1-based; the column counts bytes
	Message      string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// maxName is how long names of servers are: clients put them before names of
// tools, and Cursor drops tools where both together have more than 60 characters.
const maxName = 30

// ServerName makes a name that is legal for every client from a title: small
// letters, digits and hyphens. Claude Code takes letters, digits, hyphens and
// underscores; Gemini CLI splits names at underscores; Codex quotes all others.
func ServerName(title string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	short := name.String()
	if len(short) > maxName {
		short = short[:maxName]
		if at := strings.LastIndexByte(short, '-'); at > maxName/2 {
			short = short[:at]
		}
	}
	if short = strings.Trim(short, "-"); short == "" {
		return "tenon"
	}
	return short
}

// CheckName refuses a name that some client does not take.
func CheckName(name string) error {
	if name == "" || name != ServerName(name) {
		return fmt.Errorf("a name of a server has small letters, digits and single hyphens, at most %d, such as %q", maxName, ServerName(name))
	}
	return nil
}

// format edits texts of one kind. All methods are pure.
type format interface {
	// servers lists the servers of a text, in its order.
	servers(text []byte, key string) ([]Server, error)
	// set adds a server, or replaces the one of its name.
	set(text []byte, key string, s *Server, entry []field) ([]byte, error)
	// remove removes a server.
	remove(text []byte, key, name string) ([]byte, error)
	// empty reports whether a text says nothing.
	empty(text []byte) bool
}

// field is a member of the entry of a server.
type field struct {
	name  string
	value any // string or []string
}

// Servers lists the servers that a client finds in a text.
func (c *Client) Servers(text []byte) ([]Server, error) { return c.format.servers(text, c.key) }

// Add returns the text with a server. One of its name that tenon added is
// replaced, any other is [ErrForeign]. A broken text is a [*SyntaxError].
func (c *Client) Add(text []byte, s *Server) ([]byte, error) {
	switch found, err := c.find(text, s.Name); {
	case errors.Is(err, ErrNoEntry):
	case err != nil:
		return nil, err
	case !found.Ours():
		return nil, ErrForeign
	case found.Command == s.Command && slices.Equal(found.Args, s.Args):
		return text, nil // with what somebody added to it
	}
	var entry []field
	if c.typed {
		entry = append(entry, field{"type", "stdio"})
	}
	entry = append(entry, field{"command", s.Command}, field{"args", s.Args})
	changed, err := c.format.set(text, c.key, s, entry)
	if err != nil {
		return nil, err
	}
	// Nothing is written that the client would not read.
	if got, err := c.find(changed, s.Name); err != nil || got.Command != s.Command || !slices.Equal(got.Args, s.Args) {
		return nil, errNotEdited
	}
	return changed, nil
}

// Remove returns the text without a server, and the server. One that tenon did not
// add is [ErrForeign].
func (c *Client) Remove(text []byte, name string) ([]byte, Server, error) {
	found, err := c.find(text, name)
	if err != nil {
		return nil, Server{}, err
	}
	if !found.Ours() {
		return nil, Server{}, ErrForeign
	}
	rest, err := c.format.remove(text, c.key, name)
	if err != nil {
		return nil, Server{}, err
	}
	if _, err := c.find(rest, name); !errors.Is(err, ErrNoEntry) {
		return nil, Server{}, errNotEdited
	}
	return rest, found, nil
}

func (c *Client) find(text []byte, name string) (Server, error) {
	all, err := c.format.servers(text, c.key)
	if err != nil {
		return Server{}, err
	}
	if at := slices.IndexFunc(all, func(s Server) bool { return s.Name == name }); at >= 0 {
		return all[at], nil
	}
	return Server{}, ErrNoEntry
}
