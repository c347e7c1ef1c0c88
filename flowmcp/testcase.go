package flowmcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// TestCase is one case that a schema file has for a tool.
type TestCase struct {
	Tool        string // its name for clients, as Load offered it
	ID          string // its name in full
	Namespace   string
	File        string // name of the schema file, without its folder and extension
	Route       string
	Index       int // among the cases of its tool, from 0
	Description string
	Args        []byte // JSON object
	ReadOnly    bool   // the tool changes nothing
	Why         string // the tool is not served, and what to do; empty: it is
}

// TestCases returns the cases of the tools of the last Load, in the order of
// the files, also those of tools that are not served.
func (s *Source) TestCases() []TestCase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.cases)
}

// casesOf are the cases of one tool.
func casesOf(t *route, tool string) []TestCase {
	var all []TestCase
	for i, n := range t.tests.list() {
		if !n.is(objectKind) {
			continue
		}
		all = append(all, TestCase{
			Tool: tool, ID: t.id(), Namespace: t.file.namespace, File: fileBase(t.file.path), Route: t.name, Index: i,
			Description: n.get("_description").str(), Args: withoutDescription(n).appendJSON(nil), ReadOnly: t.readOnly(),
		})
	}
	return all
}

// Capture is what one case brought: a file of a recording.
type Capture struct {
	Namespace    string          `json:"namespace"`
	SchemaFile   string          `json:"schemaFile"`
	RouteName    string          `json:"routeName"`
	TestIndex    int             `json:"testIndex"`
	Description  string          `json:"_description"`
	UserParams   json.RawMessage `json:"userParams"`
	ResponseTime int64           `json:"responseTime"` // milliseconds
	Timestamp    string          `json:"timestamp"`
	Response     json.RawMessage `json:"response"`  // status, messages and data, after the handlers
	Exchanges    []Exchange      `json:"exchanges"` // what was asked upstream
}

// CapturePath is the file of a case in the folder of a recording.
func CapturePath(dir string, c TestCase) string {
	return filepath.Join(dir, c.Namespace, safeName(c.File), fmt.Sprintf("%s-%d.json", safeName(c.Route), c.Index))
}

// safeName is a name of a tool as a file can have it: some are paths.
func safeName(name string) string {
	safe := []byte(name)
	for i, b := range safe {
		if !isAlnum(b) && b != '-' && b != '_' && b != '.' {
			safe[i] = '_'
		}
	}
	if len(safe) > 120 {
		safe = safe[:120]
	}
	if len(safe) == 0 || safe[0] == '.' {
		return "_" + string(safe)
	}
	return string(safe)
}

// WriteCapture keeps what a case brought.
func WriteCapture(path string, c Capture) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(path, append(text, '\n'))
}

// ReadCapture reads what a case brought.
func ReadCapture(path string) (Capture, error) {
	var c Capture
	info, err := os.Stat(path)
	if err != nil {
		return c, plain(err)
	}
	if info.Size() > 4*maxRecorded {
		return c, errors.New("the file is too large")
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the folder of the recording
	if err != nil {
		return c, plain(err)
	}
	if err := json.Unmarshal(rawjson.WithoutMark(text), &c); err != nil {
		return c, fmt.Errorf("the file is no capture: %w", err)
	}
	return c, nil
}
