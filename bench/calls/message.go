package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// Ids have one width, so that all answers to a variant have one length.
const firstID = 100_000_000

const (
	idHead   = `{"jsonrpc":"2.0","id":`
	initText = idHead + `1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	readyMsg = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// message is a call of tool whose id is set in place.
type message struct {
	text []byte // begins with idHead
	next int
}

func newMessage(tool string, stateful bool, from int) (*message, error) {
	arguments, err := sample.Arguments(tool)
	if err != nil {
		return nil, err
	}
	text := idHead + strconv.Itoa(firstID) + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + string(arguments)
	if !stateful {
		text += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return &message{text: []byte(text + "}}"), next: firstID + from}, nil
}

// stamp sets the next id and returns the message.
func (m *message) stamp() []byte {
	strconv.AppendInt(m.text[len(idHead):len(idHead)], int64(m.next), 10)
	m.next++
	return m.text
}

// verify reads an answer whole: the result stands in it twice, and is no error.
func verify(answer []byte, want *sample.Forecast) error {
	var a struct {
		Result struct {
			Structured *sample.Forecast `json:"structuredContent"`
			Content    []struct{ Text string }
			IsError    bool
		}
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return fmt.Errorf("the answer is no JSON: %w: %.300s", err, answer)
	}
	if a.Result.IsError || a.Result.Structured == nil || len(a.Result.Content) != 1 {
		return fmt.Errorf("no result: %.500s", answer)
	}
	var copied sample.Forecast
	if err := json.Unmarshal([]byte(a.Result.Content[0].Text), &copied); err != nil {
		return fmt.Errorf("the text copy is no JSON: %w", err)
	}
	if !reflect.DeepEqual(a.Result.Structured, want) || !reflect.DeepEqual(&copied, want) {
		return fmt.Errorf("another result: %.500s", answer)
	}
	return nil
}
