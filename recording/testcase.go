package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tenon-mcp/tenon/internal/atomicfile"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Recording is the recorded run of one test case: a file of a recording.
type Recording struct {
	Namespace    string          `json:"namespace"`
	SchemaFile   string          `json:"schemaFile"`
	RouteName    string          `json:"routeName"`
	TestIndex    int             `json:"testIndex"`
	Description  string          `json:"_description"`
	UserParams   json.RawMessage `json:"userParams"`
	ResponseTime int64           `json:"responseTime"` // milliseconds
	Timestamp    string          `json:"timestamp"`
	Response     json.RawMessage `json:"response"`  // status, messages and data after the handlers
	Exchanges    []Exchange      `json:"exchanges"` // with the upstream
}

// Path returns the file of a test case in the folder of a recording.
func Path(dir, namespace, file, route string, index int) string {
	return filepath.Join(dir, namespace, FileName(file), fmt.Sprintf("%s-%d.json", FileName(route), index))
}

// FileName converts a tool's name, which may be a path, to a file name.
func FileName(name string) string {
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

// Write writes a recording to a file.
func Write(path string, c Recording) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(text, '\n'))
}

// Read reads a recording from a file.
func Read(path string) (Recording, error) {
	var c Recording
	info, err := os.Stat(path)
	if err != nil {
		return c, withoutPath(err)
	}
	if info.Size() > 4*maxRecorded {
		return c, errors.New("the file is too large")
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the folder of the recording
	if err != nil {
		return c, withoutPath(err)
	}
	if err := json.Unmarshal(rawjson.WithoutMark(text), &c); err != nil {
		return c, fmt.Errorf("the file is not a recording: %w", err)
	}
	return c, nil
}

// withoutPath removes the path from an error that is printed after the path.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

func isAlnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}
