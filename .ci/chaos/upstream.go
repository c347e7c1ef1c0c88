package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// journal is the upstream, and what it knows of each call: how often its request came.
type journal struct {
	mu      sync.Mutex
	came    map[string]int // by the operation and the id that a client made up
	limited []time.Time    // when requests of the limited tool came
	waiting int            // requests of slow that nobody has taken back yet
}

func (j *journal) times(operation, id string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.came[operation+" "+id]
}

// ServeHTTP implements http.Handler.
func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation, id, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method == http.MethodPost {
		var order struct {
			ID string `json:"id"`
		}
		if json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&order) != nil {
			http.Error(w, "no order", http.StatusBadRequest)
			return
		}
		id = order.ID
	}
	j.mu.Lock()
	j.came[operation+" "+id]++
	if operation == "limited" {
		j.limited = append(j.limited, time.Now())
	}
	j.mu.Unlock()
	switch operation {
	case "slow":
		j.wait(1)
		defer j.wait(-1)
		<-r.Context().Done()
	case "big":
		answer(w, bigOf(id))
	default:
		answer(w, map[string]any{"id": id})
	}
}

func (j *journal) wait(n int) {
	j.mu.Lock()
	j.waiting += n
	j.mu.Unlock()
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // who hung up reads nothing
}

// item is one of the list that big returns.
type item struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

// bigOf is an answer that has to be cut, and that is different for each id.
func bigOf(id string) map[string][]item {
	all := make([]item, 400)
	for i := range all {
		all[i] = item{i, fmt.Sprintf("%s %d %s", id, i, strings.Repeat("x", 80))}
	}
	return map[string][]item{"items": all}
}

// document describes the upstream at base.
func document(base string) []byte {
	text := map[string]any{"type": "string"}
	object := func(members map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": members}
	}
	named := object(map[string]any{"id": text})
	operation := func(name string, schema any) map[string]any {
		return map[string]any{
			"operationId": name, "responses": map[string]any{"200": map[string]any{"description": "ok", "content": map[string]any{"application/json": map[string]any{"schema": schema}}}},
		}
	}
	paths := map[string]any{}
	get := func(name string, schema any) {
		o := operation(name, schema)
		o["parameters"] = []any{map[string]any{"name": "id", "in": "path", "required": true, "schema": text}}
		paths["/"+name+"/{id}"] = map[string]any{"get": o}
	}
	items := object(map[string]any{"items": map[string]any{"type": "array", "items": object(map[string]any{"n": map[string]any{"type": "integer"}, "text": text})}})
	get("quick", named)
	get("slow", named)
	get("limited", named)
	get("big", items)
	for i := range others {
		get(fmt.Sprintf("other%02d", i), named)
	}
	order := operation("order", named)
	order["requestBody"] = map[string]any{"required": true, "content": map[string]any{"application/json": map[string]any{"schema": named}}}
	paths["/order"] = map[string]any{"post": order}
	b, err := json.Marshal(map[string]any{
		"openapi": "3.1.0", "info": map[string]any{"title": "Shop", "version": "1"}, "servers": []any{map[string]any{"url": base}}, "paths": paths,
	})
	if err != nil {
		panic(err)
	}
	return b
}

// others are tools that make the list long; tools is the number of all, with next_part
// and describe.
const (
	others = 40
	tools  = others + 5 + 2
)
