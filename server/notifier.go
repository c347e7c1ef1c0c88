package server

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// notifier sends messages to the client of a request in progress.
type notifier interface {
	// send sends one message, a line of JSON without its end. An error means
	// that nothing more can be sent.
	send(message []byte) error
}

var errSilent = errors.New("nothing may be sent for this request any more")

// call makes what a source is told about q, with the ways back that there are.
func (q *request) call() *tenon.Call {
	c := &q.made // it lives as long as q, which it leads back to
	c.Tool, c.Args, c.Subject, c.Header, c.Requester, c.OnPage = q.Name, q.Arguments, q.subject, q.forwarded, q, q.plain
	if c.Client = q.Client; c.Client == nil && q.peer != nil {
		c.Client = q.peer.who()
	}
	if q.out == nil {
		return c
	}
	if q.Progress != nil {
		c.ProgressFunc = q.sendProgress
	}
	if q.minLevel() > 0 {
		c.LogFunc = q.sendLog
	}
	return c
}

// minLevel is the lowest level of log messages that the client wants; 0: none.
// 2026-07-28 says so with every request, and no level means none.
func (q *request) minLevel() int32 {
	switch {
	case q.era == modern:
		return levelOf(tenon.LoggingLevel(q.LogLevel))
	case q.peer != nil:
		return q.peer.level.Load()
	}
	return defaultLevel
}

// notify sends a message for q, unless its response was sent already.
func (q *request) notify(message []byte) {
	q.telling.Lock()
	defer q.telling.Unlock()
	if !q.silent {
		_ = q.out.send(message) // whoever lost the client ends the request
	}
}

// mute ensures that nothing follows the response.
func (q *request) mute() {
	if q.out == nil {
		return
	}
	q.telling.Lock()
	defer q.telling.Unlock()
	q.silent = true
}

// sendProgress sends progress, which has to increase.
func (q *request) sendProgress(done, total float64, note string) {
	q.telling.Lock()
	grows := !math.IsNaN(done) && !math.IsInf(done, 0) && (!q.reported || done > q.done)
	if grows {
		q.reported, q.done = true, done
	}
	q.telling.Unlock()
	if !grows {
		return
	}
	m := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), q.Progress...)
	m = strconv.AppendFloat(append(m, `,"progress":`...), done, 'f', -1, 64)
	if total > 0 {
		m = strconv.AppendFloat(append(m, `,"total":`...), total, 'f', -1, 64)
	}
	if note != "" {
		m = rawjson.AppendString(append(m, `,"message":`...), note)
	}
	q.notify(append(m, "}}"...))
}

// sendLog sends a log message.
func (q *request) sendLog(level tenon.LoggingLevel, data any) {
	rank, least := levelOf(level), q.minLevel()
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
	q.notify(append(m, "}}"...))
}
