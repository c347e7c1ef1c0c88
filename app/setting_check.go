package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-mcp/tenon/internal/config"
	"github.com/tenon-mcp/tenon/internal/jq"
	"github.com/tenon-mcp/tenon/openapi"
)

// What can be checked of a value before anything is read, and which part of a
// value names a file, which is relative to the directory of the config file.

func checkSelector(value string) error {
	if err := openapi.ParseSelector(value); err != nil {
		return fmt.Errorf("selector %q: %w", value, err)
	}
	return nil
}

func checkJQ(value string) error {
	_, err := jq.Compile(value)
	return err
}

func checkBytes(value string) error {
	_, err := parseBytes(value)
	return err
}

// parseBytes reads a limit; less than 1 is none.
func parseBytes(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("a whole number of bytes such as 204800, not %q", clipped(s))
	}
	if n < 1 {
		n = -1
	}
	return n, nil
}

// besideAt is for @FILE.
func besideAt(folder, value string) string {
	if file, ok := strings.CutPrefix(value, "@"); ok {
		return "@" + config.Beside(folder, file)
	}
	return value
}

// besideSecret is for NAME=file:PATH.
func besideSecret(folder, value string) string {
	for _, mark := range []string{"=file:", "=oauth2:file:"} {
		if before, file, ok := strings.Cut(value, mark); ok {
			return before + mark + config.Beside(folder, file)
		}
	}
	return value
}

// besideCert is for https://host=CERT,KEY.
func besideCert(folder, value string) string {
	name, files, _ := strings.Cut(value, "=")
	parts := strings.Split(files, ",")
	for i := range parts {
		parts[i] = config.Beside(folder, parts[i])
	}
	return name + "=" + strings.Join(parts, ",")
}

// clipped is the beginning of what somebody wrote.
func clipped(value string) string {
	const shown = 80
	if len(value) > shown {
		return strings.ToValidUTF8(value[:shown], "") + "…"
	}
	return value
}
