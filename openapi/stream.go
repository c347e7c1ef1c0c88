package openapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/internal/egress"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// maxItem bounds one item of a stream.
const maxItem = 4 << 20

// eventSchema describes a server-sent event, as OpenAPI 3.2 does.
const eventSchema = `{"type":"object","properties":{"data":{"type":"string"},"event":{"type":"string"},"id":{"type":"string"},` +
	`"retry":{"type":"integer","minimum":0}},"required":["data"]}`

const eventStream = "text/event-stream"

// isStream tells the media types whose bodies are items one after the other.
func isStream(media string) bool {
	switch media {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", eventStream:
		return true
	}
	return false
}

// streams tells whether a success of the operation is declared to be a stream.
func (o *operation) streams() bool {
	all := o.answers(func(value, string) {})
	declared := declaresSuccess(all)
	for _, a := range all {
		if isStream(a.media) && isSuccess(a.status, declared) {
			return true
		}
	}
	return false
}

// listSchema describes a stream as the list of its items.
func (o *operation) listSchema(a answer, dir direction) []byte {
	items := fragment{body: []byte("{}")}
	switch described := a.entry.get("itemSchema"); {
	case described.ok():
		items = o.api.doc.convert(described, dir)
	case a.media == eventStream:
		items.body = []byte(eventSchema)
	case a.lines.ok():
		return o.lineSchema(a.lines, dir)
	}
	return listOf(items)
}

// callStream is the handler of an operation that declares a stream. The source's
// limit of time ends with the headers of a stream: how long its items are
// waited for is the gateway's affair.
func (o *operation) callStream(ctx context.Context, c *tenon.Call, reply *tenon.Response) error {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(o.api.options.Timeout, func() { cancel(context.DeadlineExceeded) })
	end := func() { late.Stop(); cancel(nil) }
	var body *egress.Stream
	err := o.answered(ctx, c, reply, func(req *http.Request) (egress.Response, error) {
		opened, res, err := o.open(c, req)
		switch {
		case err != nil:
			return res, err
		case res.Status/100 == 2 && isStream(mediaType(res.Header.Get("Content-Type"))):
			body = opened
			return res, nil
		}
		return opened.Whole()
	})
	if body != nil {
		late.Stop()
		reply.MediaType = reply.Header.Get("Content-Type")
		reply.Items = items(body, mediaType(reply.MediaType), end)
		return err
	}
	end()
	if err != nil && context.Cause(ctx) == context.DeadlineExceeded { //nolint:errorlint // it is set above
		err = &tenon.Error{Code: tenon.CodeTimeout, Message: "no complete answer before the deadline", Err: err}
	}
	return err
}

// items are the items of a stream. It has to be ranged over once.
func items(body *egress.Stream, media string, end func()) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer end()
		defer func() { _ = body.Close() }() // what is left of it nobody wants
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxItem)
		read := jsonLines
		if media == eventStream {
			lines.Split(scanEventLines)
			read = events
		}
		if err := read(lines, yield); err != nil {
			yield(nil, err)
		}
	}
}

// jsonLines reads a JSON value a line. An error is about the stream.
func jsonLines(lines *bufio.Scanner, yield func([]byte, error) bool) error {
	for n := 1; scan(lines); n++ {
		line := lines.Bytes()
		if n == 1 {
			line = rawjson.WithoutMark(line)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if err := rawjson.Check(line); err != nil {
			return &tenon.Error{Code: tenon.CodeContract, Message: fmt.Sprintf("line %d of the stream is not JSON: %v", n, err)}
		}
		if !yield(bytes.Clone(line), nil) {
			return nil
		}
	}
	return streamError(lines.Err())
}

// scan is Scan but for a line that an error cut off.
func scan(lines *bufio.Scanner) bool { return lines.Scan() && lines.Err() == nil }

func streamError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		return &tenon.Error{Code: tenon.CodeRequest, Message: "an item of the stream is larger than " + strconv.Itoa(maxItem) + " bytes"}
	}
	return failure(err)
}

// events reads server-sent events (WHATWG HTML §9.2). One that the end of the
// stream cuts off is none.
func events(lines *bufio.Scanner, yield func([]byte, error) bool) error {
	var e event
	first := true
	for scan(lines) {
		line := lines.Bytes()
		if first {
			line, first = rawjson.WithoutMark(line), false
		}
		if len(line) > 0 {
			if e.field(line); len(e.data) > maxItem {
				return streamError(bufio.ErrTooLong)
			}
			continue
		}
		if e.told && !yield(e.item(), nil) {
			return nil
		}
		e = event{id: e.id}
	}
	return streamError(lines.Err())
}

// event is one that is being read.
type event struct {
	data, name, id, retry []byte
	told                  bool // it has data
}

func (e *event) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.told {
			e.data = append(e.data, '\n')
		}
		e.data, e.told = append(e.data, value...), true
	case "event":
		e.name = bytes.Clone(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			e.id = bytes.Clone(value)
		}
	case "retry":
		if n, err := strconv.ParseUint(string(value), 10, 63); err == nil {
			e.retry = strconv.AppendUint(nil, n, 10)
		}
	}
}

// item is the event as JSON.
func (e *event) item() []byte {
	dst := rawjson.AppendString([]byte(`{"data":`), e.data)
	if len(e.name) > 0 {
		dst = rawjson.AppendString(append(dst, `,"event":`...), e.name)
	}
	if len(e.id) > 0 {
		dst = rawjson.AppendString(append(dst, `,"id":`...), e.id)
	}
	if e.retry != nil {
		dst = append(append(dst, `,"retry":`...), e.retry...)
	}
	return append(dst, '}')
}

// scanEventLines splits at LF, CRLF and lone CR.
func scanEventLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0:
		return 0, nil, nil
	case data[i] == '\n':
		return i + 1, data[:i], nil
	case i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	case i+1 == len(data) && !atEOF:
		return 0, nil, nil // the LF may be on its way
	}
	return i + 1, data[:i], nil
}
