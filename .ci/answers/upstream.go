package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// cut is the status of an upstream that breaks the connection.
const cut = -1

// serveUpstream serves the table on a free port, with its description at
// /openapi.json, until ctx ends. It returns the address.
func serveUpstream(ctx context.Context, table []answer) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	mux := http.NewServeMux()
	document := describe(table, "http://"+l.Addr().String())
	mux.HandleFunc("/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(document)
	})
	for _, a := range table {
		mux.HandleFunc("/"+a.name, a.serve)
	}
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = web.Serve(l) }()
	context.AfterFunc(ctx, func() { _ = web.Close() })
	return l.Addr().String(), nil
}

func (a *answer) serve(w http.ResponseWriter, _ *http.Request) {
	if a.status == cut {
		panic(http.ErrAbortHandler)
	}
	if a.body != "" {
		w.Header().Set("Content-Type", orElse(a.media, "application/json"))
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = w.Write([]byte(a.body))
}

// describe writes the OpenAPI document of the table.
func describe(table []answer, base string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"openapi":"3.1.0","info":{"title":"answers","version":"1"},"servers":[{"url":%q}],"components":{"schemas":{%s}},"paths":{`, base, bombs())
	for i, a := range table {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `"/%s":{"get":{"operationId":%q,"responses":{%s}}}`, a.name, a.name, a.responses())
	}
	return []byte(b.String() + "}}")
}

// responses describes a success, whatever comes.
func (a *answer) responses() string {
	switch {
	case a.status == http.StatusNoContent:
		return `"204":{"description":"nothing"}`
	case a.media == "text/plain":
		return `"200":{"description":"text","content":{"text/plain":{"schema":{"type":"string"}}}}`
	}
	return `"200":{"description":"data","content":{"application/json":{"schema":` + orElse(a.schema, "{}") + `}}}`
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
