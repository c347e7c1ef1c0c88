package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Bounds of what is read.
const (
	maxRead  = 256 << 20 // bytes of all files together
	maxCalls = 100_000
)

// Load reads the calls of a recording: a file of lines, a HAR, or the files in a
// folder, in the order of their names.
func Load(path string) ([]Call, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	files := []string{path}
	if info.IsDir() {
		if files, err = filesIn(path); err != nil {
			return nil, withoutPath(err)
		}
		if files == nil {
			return nil, errors.New("the folder has no recording: no file ends in " + Extension + " or .har")
		}
	}
	var all []Call
	left := int64(maxRead)
	for _, file := range files {
		text, err := readFile(file, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		read := ParseLines
		if filepath.Ext(file) == ".har" {
			read = ParseHAR
		}
		calls, err := read(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		if all = append(all, calls...); len(all) > maxCalls {
			return nil, fmt.Errorf("it has more than %d calls", maxCalls)
		}
	}
	return all, nil
}

func filesIn(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.Type().IsRegular() && (ext == Extension || ext == ".har") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

func readFile(file string, most int64) ([]byte, error) {
	f, err := os.Open(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d MB: at most %d MB of recordings are read at a time", filepath.Base(file), info.Size()>>20, maxRead>>20)
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	return text, withoutPath(err)
}

// ParseLines reads a recording of a JSON object a line. The last line may be
// without its end: then it was not written to its end, and is left out.
func ParseLines(text []byte) (calls []Call, err error) {
	number := 0
	for line := range bytes.Lines(rawjson.WithoutMark(text)) {
		number++
		plain := bytes.TrimSpace(line)
		if len(plain) == 0 {
			continue
		}
		var c Call
		err := json.Unmarshal(plain, &c)
		if err == nil {
			err = c.check()
		}
		if err != nil && !bytes.HasSuffix(line, []byte("\n")) && number > 1 {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d is not a recorded call: %w", number, err)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// check refuses what cannot be replayed.
func (c *Call) check() error {
	if c.Version != formatVersion {
		return fmt.Errorf("its member recording is %d; this program reads %d", c.Version, formatVersion)
	}
	for i := range c.Exchanges {
		e := &c.Exchanges[i]
		u, err := url.Parse(e.URL)
		switch {
		case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme):
			return fmt.Errorf("exchange %d has no http or https URL", i)
		case e.Status < 100 || e.Status > 999:
			return fmt.Errorf("exchange %d has the status %d", i, e.Status)
		}
		if _, err := e.body(); err != nil {
			return fmt.Errorf("exchange %d: %w", i, err)
		}
	}
	return nil
}

// Exchanges are those of all calls.
func Exchanges(calls []Call) (all []Exchange) {
	for i := range calls {
		all = append(all, calls[i].Exchanges...)
	}
	return all
}

// withoutPath removes the path from an error that is printed after the path.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
