package server

import (
	"bytes"
	"context"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// pageWait is how long a call waits for a user who has gone to a page. Clients give up
// after a minute unless they are told otherwise, and a result that says what is
// missing is better than none.
const pageWait = 50 * time.Second

// awaitPages waits until what accepted URLs are for has been done, and tells a client
// whose revision has a notification for it (2025-11-25, client/elicitation). In
// 2026-07-28 it has none, and the server "may need to block".
func (q *request) awaitPages(ctx context.Context, questions []tenon.InputRequest, answers []tenon.InputResponse) {
	limit, cancel := context.WithTimeout(ctx, pageWait)
	defer cancel()
	for i, question := range questions {
		if question.Kind != tenon.ElicitURL || question.Done == nil || answers[i].Action != "accept" {
			continue
		}
		select {
		case <-question.Done:
			if q.era == legacy && question.ID != "" {
				note := rawjson.AppendString([]byte(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":`), question.ID)
				q.notify(append(note, "}}"...))
			}
		case <-limit.Done():
			return
		}
	}
}

// withElicitationID returns the params of a question as revisions before 2026-07-28
// have them.
func withElicitationID(question tenon.InputRequest) []byte {
	open := bytes.TrimRight(question.Params, " \t\r\n")
	if question.Kind != tenon.ElicitURL || question.ID == "" || !bytes.HasSuffix(open, []byte("}")) {
		return question.Params
	}
	with := append(bytes.Clone(open[:len(open)-1]), `,"elicitationId":`...)
	return append(rawjson.AppendString(with, question.ID), '}')
}
