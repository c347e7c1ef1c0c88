package server

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// outlet leads from a request that is under way back to its client.
type outlet interface {
	// send sends one message, a line of JSON without its end. An error means
	// that nothing more can be sent.
	send(message []byte) error
}

var errSilent = errors.New("nothing may be sent for this request any more")

// call makes what a source is told about q, with the ways back that there are.
func (q *request) call() *tenon.Call {
	c := &q.made // it lives as long as q, which it leads back to
	c.Tool, c.Args, c.Subject, c.Header, c.Requester, c.OnPage = q.name, q.arguments, q.subject, q.forwarded, q, q.plain
	if c.Client = q.client; c.Client == nil && q.peer != nil {
		c.Client = q.peer.who()
	}
	if q.out == nil {
		return c
	}
	if q.progress != nil {
		c.ProgressFunc = q.report
	}
	if q.quietest() > 0 {
		c.LogFunc = q.note
	}
	return c
}

// quietest is the lightest level of log messages that the client wants; 0: it
// wants none. 2026-07-28 says so with every request, and no level means none.
func (q *request) quietest() int32 {
	switch {
	case q.era == modern && q.logLevel == "" && q.server.lax(ruleLogLevel):
		return defaultLevel
	case q.era == modern:
		return levelOf(tenon.LoggingLevel(q.logLevel))
	case q.peer != nil:
		return q.peer.level.Load()
	}
	return defaultLevel
}

// tell sends a message for q, unless its answer went out already.
func (q *request) tell(message []byte) {
	q.telling.Lock()
	defer q.telling.Unlock()
	if !q.silent {
		_ = q.out.send(message) // whoever lost the client ends the request
	}
}

// hush makes sure that nothing follows the answer.
func (q *request) hush() {
	if q.out == nil {
		return
	}
	q.telling.Lock()
	defer q.telling.Unlock()
	q.silent = true
}

// report sends progress. The protocol wants it to grow.
func (q *request) report(done, total float64, note string) {
	q.telling.Lock()
	grows := !math.IsNaN(done) && !math.IsInf(done, 0) && (!q.reported || done > q.done || q.server.lax(ruleProgress))
	if grows {
		q.reported, q.done = true, done
	}
	q.telling.Unlock()
	if !grows {
		return
	}
	m := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), q.progress...)
	m = strconv.AppendFloat(append(m, `,"progress":`...), done, 'f', -1, 64)
	if total > 0 {
		m = strconv.AppendFloat(append(m, `,"total":`...), total, 'f', -1, 64)
	}
	if note != "" {
		m = rawjson.AppendString(append(m, `,"message":`...), note)
	}
	q.tell(append(m, "}}"...))
}

// note sends a log message.
func (q *request) note(level tenon.LoggingLevel, data any) {
	rank, least := levelOf(level), q.quietest()
	if rank == 0 || least == 0 || rank < least {
		return
	}
	b, err := json.Marshal(data)
	if err != nil {
		q.server.log.Debug("a log message is not JSON", "error", err)
		return
	}
	m := rawjson.AppendString([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":`), string(level))
	m = append(append(m, `,"data":`...), b...)
	q.tell(append(m, "}}"...))
}
