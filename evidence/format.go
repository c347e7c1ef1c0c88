package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// The format: lines of JSON. The first says what it is, the others are in any order, and
// of several about the same key of a writer the larger count is right. So the lines of
// two ledgers in one file are their merge, which is what merge=union of Git makes.

const (
	formatName    = "evidence"
	formatVersion = 1

	maxFile = 64 << 20 // bytes
	maxLine = 64 << 10
	maxText = 4 << 10 // bytes of one member
)

// head is the first line.
type head struct {
	Tenon   string `json:"tenon"`
	Version int    `json:"version"`
}

// line is any other: of a writer if it has no operation, else of one of its keys.
type line struct {
	Writer string `json:"writer"`

	Home    string `json:"home,omitempty"`
	Dropped int64  `json:"dropped,omitempty"`

	Schema    string              `json:"schema,omitempty"`
	Origin    string              `json:"origin,omitempty"`
	Operation string              `json:"operation,omitempty"`
	Status    string              `json:"status,omitempty"`
	MediaType string              `json:"mediaType,omitempty"`
	Pointer   *string             `json:"pointer,omitempty"`
	Keyword   string              `json:"keyword,omitempty"`
	Kind      string              `json:"kind,omitempty"`
	Calls     int64               `json:"calls,omitempty"`
	Fits      int64               `json:"fits,omitempty"`
	Violated  int64               `json:"violated,omitempty"`
	Arguments map[string][]string `json:"arguments,omitempty"`
	Places    string              `json:"places,omitempty"`
	First     *time.Time          `json:"first,omitempty"`
	Last      *time.Time          `json:"last,omitempty"`
}

// FormatError says why a text is not a ledger.
type FormatError struct {
	Line    int // 1-based
	Message string
}

// Error formats e as "line N: message".
func (e *FormatError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// Read reads a ledger of at most 64 MiB. An empty text is an empty ledger. The error
// is a [*FormatError] if the text is not a ledger.
func Read(r io.Reader) (*Ledger, error) {
	l := New()
	limited := &io.LimitedReader{R: r, N: maxFile + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	n := 0
	for lines.Scan() {
		if n++; len(bytes.TrimSpace(lines.Bytes())) == 0 && n > 1 {
			continue
		}
		if err := l.read(lines.Bytes(), n == 1); err != nil {
			return nil, &FormatError{n, err.Error()}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &FormatError{n + 1, fmt.Sprintf("longer than %d bytes, which no line of evidence is", maxLine)}
	case err != nil:
		return nil, err
	case limited.N == 0:
		return nil, &FormatError{n, fmt.Sprintf("more than %d bytes", maxFile)}
	}
	return l, nil
}

func (l *Ledger) read(text []byte, first bool) error {
	if err := rawjson.Check(text); err != nil {
		return fmt.Errorf("not JSON, or only the beginning of a line: %w", err)
	}
	var h head
	if bytes.Contains(text, []byte(`"tenon"`)) || first {
		if err := strictly(text, &h); err != nil || h.Tenon != formatName {
			return errors.New(`this is not evidence of tenon, whose first line is {"tenon":"evidence","version":1}`)
		}
		if h.Version != formatVersion {
			return fmt.Errorf("evidence of version %d; this tenon reads version %d, a newer one may read it", h.Version, formatVersion)
		}
		return nil
	}
	var x line
	if err := strictly(text, &x); err != nil {
		return fmt.Errorf("not a line of evidence of version %d: %w", formatVersion, err)
	}
	if err := x.check(); err != nil {
		return err
	}
	w := l.writer(x.Writer)
	if x.Operation == "" {
		w.Home, w.Dropped = max(w.Home, x.Home), max(w.Dropped, x.Dropped)
		return nil
	}
	c, err := x.counts()
	if err != nil {
		return err
	}
	k := x.key()
	if known := w.Counts[k]; known != nil {
		known.merge(c)
	} else {
		w.Counts[k] = c
	}
	return nil
}

func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

var (
	writerID = regexp.MustCompile(`^[0-9a-f]{16}$`)
	digestOf = regexp.MustCompile(`^[0-9a-f]{24}$`)
	shortID  = regexp.MustCompile(`^[0-9a-f]{8}$`)
)

func (x *line) check() error {
	if !writerID.MatchString(x.Writer) {
		return errors.New("writer is not an id of 16 hexadecimal digits")
	}
	if x.Home != "" && !shortID.MatchString(x.Home) {
		return errors.New("home is not an id of 8 hexadecimal digits")
	}
	for _, n := range []int64{x.Dropped, x.Calls, x.Fits, x.Violated} {
		if n < 0 || n > maxCount {
			return fmt.Errorf("%d is not a count", n)
		}
	}
	if x.Operation == "" {
		return nil
	}
	if !digestOf.MatchString(x.Schema) {
		return errors.New("schema is not a digest of 24 hexadecimal digits")
	}
	for _, text := range []string{x.Origin, x.Operation, x.Status, x.MediaType, x.Keyword, x.Kind, x.Places} {
		if len(text) > maxText {
			return fmt.Errorf("a text of %d bytes", len(text))
		}
	}
	if x.Pointer != nil && (x.Keyword == "" || len(*x.Pointer) > maxText) || x.Pointer == nil && x.Keyword+x.Kind != "" {
		return errors.New("pointer and keyword go together")
	}
	return nil
}

func (x *line) key() Key {
	k := Key{Schema: x.Schema, Origin: x.Origin, Operation: x.Operation, Status: x.Status, MediaType: x.MediaType, Keyword: x.Keyword, Kind: x.Kind}
	if x.Pointer != nil {
		k.Pointer = *x.Pointer
	}
	return k
}

func (x *line) counts() (*Counts, error) {
	c := &Counts{Calls: x.Calls, Fits: x.Fits, Violated: x.Violated}
	for key, digests := range x.Arguments {
		if !shortID.MatchString(key) || len(digests) > sketchSize {
			return nil, errors.New("arguments are not digests by the id of a key")
		}
		all := make([]uint64, len(digests))
		for i, text := range digests {
			n, err := strconv.ParseUint(text, 16, 64)
			if err != nil {
				return nil, errors.New("arguments are not digests by the id of a key")
			}
			all[i] = n
		}
		c.Arguments = c.Arguments.union(Sketch{key: smallest(all)})
	}
	var err error
	if c.Places, err = parseCoverage(x.Places); err != nil {
		return nil, err
	}
	for _, t := range []struct {
		from *time.Time
		to   *time.Time
	}{{x.First, &c.First}, {x.Last, &c.Last}} {
		if t.from == nil {
			continue
		}
		if *t.to = t.from.UTC().Truncate(time.Second); t.to.Year() < 1 || t.to.Year() > 9999 {
			return nil, errors.New("a time beyond the calendar")
		}
	}
	return c, nil
}

// Write writes l; the same ledger is always the same text.
func (l *Ledger) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	if err := e.Encode(head{formatName, formatVersion}); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(l.Writers)) {
		from := l.Writers[id]
		if err := e.Encode(line{Writer: id, Home: from.Home, Dropped: from.Dropped}); err != nil {
			return err
		}
		for _, k := range Keys(from.Counts) {
			if err := e.Encode(lineOf(id, k, from.Counts[k])); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

func lineOf(id string, k Key, c *Counts) *line {
	x := &line{
		Writer: id, Schema: k.Schema, Origin: k.Origin, Operation: k.Operation, Status: k.Status, MediaType: k.MediaType, Keyword: k.Keyword, Kind: k.Kind,
		Calls: c.Calls, Fits: c.Fits, Violated: c.Violated, Places: c.Places.text(),
	}
	if k.Keyword != "" {
		x.Pointer = &k.Pointer
	}
	for key, digests := range c.Arguments {
		if x.Arguments == nil {
			x.Arguments = map[string][]string{}
		}
		for _, d := range digests {
			x.Arguments[key] = append(x.Arguments[key], fmt.Sprintf("%016x", d))
		}
	}
	if !c.First.IsZero() {
		x.First = &c.First
	}
	if !c.Last.IsZero() {
		x.Last = &c.Last
	}
	return x
}
