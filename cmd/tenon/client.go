package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// protocol is the MCP revision that the demo's client speaks.
const protocol = "2026-07-28"

// maxAnswer bounds what the demo's client reads of one answer.
const maxAnswer = 32 << 20

// mcpClient is a small MCP client over HTTP: enough for the demo to see what
// any client would see.
type mcpClient struct {
	url  string
	http *http.Client
	id   int
}

// request makes one request and returns the result, or the JSON-RPC error.
func (c *mcpClient) request(ctx context.Context, method, name, params string) (json.RawMessage, error) {
	c.id++
	body := []byte(`{"jsonrpc":"2.0","id":` + strconv.Itoa(c.id) + `,"method":"` + method + `","params":{"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"` + protocol + `",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"tenon-demo","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`)
	if params != "" {
		body = append(append(body, ','), params...)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(append(body, "}}"...)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", protocol)
	req.Header.Set("Mcp-Method", method)
	if name != "" {
		req.Header.Set("Mcp-Name", name)
	}
	res, err := egress.Do(c.http, req, maxAnswer)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(res.Body, &answer); err != nil {
		return nil, fmt.Errorf("the server's answer (HTTP %d) is no JSON-RPC: %w", res.Status, err)
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("JSON-RPC error %d: %s", answer.Error.Code, answer.Error.Message)
	}
	return answer.Result, nil
}

// call calls a tool and returns the result of tools/call.
func (c *mcpClient) call(ctx context.Context, tool, arguments string) (toolResult, error) {
	params := append([]byte(`"name":`), rawjson.AppendString(nil, tool)...)
	params = append(params, `,"arguments":`...)
	raw, err := c.request(ctx, "tools/call", tool, string(append(params, arguments...)))
	if err != nil {
		return toolResult{}, err
	}
	var r toolResult
	return r, json.Unmarshal(raw, &r)
}

// toolResult is the part of a tools/call result that the demo looks at.
type toolResult struct {
	IsError    bool            `json:"isError"`
	Structured json.RawMessage `json:"structuredContent"`
	Content    []struct {
		Type     string `json:"type"`
		MimeType string `json:"mimeType"`
	} `json:"content"`
	Meta struct {
		Contract struct {
			Verdict    string `json:"verdict"`
			Executed   string `json:"executed"`
			Retry      string `json:"retry"`
			Violations []struct {
				Path     string `json:"path"`
				Expected string `json:"expected"`
				Got      string `json:"got"`
			} `json:"violations"`
		} `json:"tenon/contract"`
	} `json:"_meta"`
}

// member returns one member of the structured content, nil where there is none.
func (r toolResult) member(name string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(r.Structured, &all) != nil {
		return nil
	}
	return all[name]
}
