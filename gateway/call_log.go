package gateway

import (
	"context"
	"log/slog"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// logged performs a call and logs one line about it: subject, tool, duration and
// outcome, but neither arguments nor results.
func (g *Gateway) logged(ctx context.Context, c *tenon.Call) (*tenon.Result, error) {
	began := time.Now()
	tool, caller := c.Tool, c.Subject
	res, err := g.call(ctx, c)
	line := []slog.Attr{slog.String("tool", tool), slog.Duration("duration", time.Since(began))}
	if caller != "" {
		line = append(line, slog.String("caller", string(caller)))
	}
	switch {
	case err != nil:
		line = append(line, slog.String("error", string(tenon.CodeOf(err))))
	default:
		if res.IsError {
			line = append(line, slog.String("error", string(res.Code)))
		}
		line = append(line, contractAttrs(res.Meta)...)
	}
	g.log.LogAttrs(ctx, slog.LevelInfo, "call", line...)
	return res, err
}

// contractAttrs returns the members of _meta["tenon/contract"].
func contractAttrs(meta []byte) []slog.Attr {
	doc, err := rawjson.Parse(meta)
	if err != nil {
		return nil // no contract in _meta
	}
	var attrs []slog.Attr
	for _, name := range [...]string{"status", "verdict", "executed"} {
		if at := doc.Pointer("/tenon~1contract/" + name); at != rawjson.None {
			if doc.Kind(at) == rawjson.String {
				attrs = append(attrs, slog.String(name, doc.Str(at)))
			} else {
				attrs = append(attrs, slog.String(name, string(doc.Raw(at))))
			}
		}
	}
	return attrs
}
