package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tenon-mcp/tenon/internal/yaml"
)

// knownDrift is drift that somebody has looked at.
type knownDrift struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Until  string `json:"until"`

	expired bool
}

const maxBaseline = 1 << 20

// readBaseline reads what is known, by id. Each has a reason; what has expired is not
// known any more.
func readBaseline(name string, now time.Time) (map[string]*knownDrift, error) {
	known := map[string]*knownDrift{}
	if name == "" {
		return known, nil
	}
	wrong := func(err error) error { return usagef("--baseline %s: %v", name, err) }
	file, err := os.Open(name) //nolint:gosec // a file that the user names
	if err != nil {
		return nil, wrong(err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxBaseline+1))
	if err == nil && len(text) > maxBaseline {
		err = fmt.Errorf("more than %d bytes", maxBaseline)
	}
	if err != nil {
		return nil, wrong(err)
	}
	if known, err = parseBaseline(text, now); err != nil {
		return nil, wrong(err)
	}
	return known, nil
}

func parseBaseline(text []byte, now time.Time) (map[string]*knownDrift, error) {
	known := map[string]*knownDrift{}
	read, err := yaml.ToJSON(text)
	if err != nil {
		return nil, err
	}
	var file struct {
		Known []*knownDrift `json:"known"`
	}
	d := json.NewDecoder(bytes.NewReader(read.JSON))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, err
	}
	for i, k := range file.Known {
		if err := k.check(now); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		if known[k.ID] != nil {
			return nil, fmt.Errorf("entry %d: the id %s is there twice", i+1, k.ID)
		}
		known[k.ID] = k
	}
	return known, nil
}

func (k *knownDrift) check(now time.Time) error {
	switch {
	case k == nil || k.ID == "":
		return errors.New("it has no id; 'tenon drift' prints them")
	case k.Reason == "":
		return errors.New(k.ID + " has no reason")
	case k.Until == "":
		return nil
	}
	until, err := time.Parse(time.DateOnly, k.Until)
	if err != nil {
		return fmt.Errorf("%s is known until %q, which is not a day such as 2027-01-31", k.ID, k.Until)
	}
	k.expired = !now.Before(until.AddDate(0, 0, 1))
	return nil
}
