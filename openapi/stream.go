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
	"github.com/tenon-mcp/tenon/openapi/internal/convert"
	"github.com/tenon-mcp/tenon/openapi/internal/document"
	"github.com/tenon-mcp/tenon/openapi/internal/encode"
)

// maxItem bounds one item of a stream, in bytes.
const maxItem = 4 << 20

// eventSchema describes a server-sent event, as in OpenAPI 3.2.
const eventSchema = `{"type":"object","properties":{"data":{"type":"string"},"event":{"type":"string"},"id":{"type":"string"},` +
	`"retry":{"type":"integer","minimum":0}},"required":["data"]}`

const eventStream = "text/event-stream"

// isStream reports whether bodies of a media type are sequences of items.
func isStream(media string) bool {
	switch media {
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", eventStream:
		return true
	}
	return false
}

// streams reports whether a success response of the operation is declared as a
// stream.
func (o *operation) streams() bool {
	all := o.responses(func(document.Value, string) {})
	declared := declaresSuccess(all)
	for _, a := range all {
		if isStream(a.media) && isSuccess(a.status, declared) {
			return true
		}
	}
	return false
}

// listSchema returns the schema of a stream as the list of its items.
func (o *operation) listSchema(a declaredResponse, dir convert.Direction) []byte {
	items := convert.Fragment{Body: []byte("{}")}
	switch described := a.entry.Get("itemSchema"); {
	case described.OK():
		items = o.api.schemas.Schema(described, dir)
	case a.media == eventStream:
		items.Body = []byte(eventSchema)
	case a.lines.OK():
		return o.lineSchema(a.lines, dir)
	}
	return listOf(items)
}

// callStream is the handler of an operation that declares a stream. The
// source's timeout ends with the headers of a stream; the gateway limits the
// time between items.
func (o *operation) callStream(ctx context.Context, c *tenon.Call, response *tenon.Response) error {
	ctx, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(o.api.options.Timeout, func() { cancel(context.DeadlineExceeded) })
	end := func() { late.Stop(); cancel(nil) }
	var body *egress.Stream
	err := o.call(ctx, c, response, func(req *http.Request) (egress.Response, error) {
		opened, res, err := o.open(c, req)
		switch {
		case err != nil:
			return res, err
		case res.Status/100 == 2 && isStream(encode.MediaType(res.Header.Get("Content-Type"))):
			body = opened
			return res, nil
		}
		return opened.ReadAll()
	})
	if body != nil {
		late.Stop()
		response.MediaType = response.Header.Get("Content-Type")
		response.Items = items(body, encode.MediaType(response.MediaType), end)
		return err
	}
	end()
	if err != nil && context.Cause(ctx) == context.DeadlineExceeded { //nolint:errorlint // it is set above
		err = &tenon.Error{Code: tenon.CodeTimeout, Message: "no complete response before the timeout", Err: err}
	}
	return err
}

// items iterates over the items of a stream, once.
func items(body *egress.Stream, media string, end func()) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		defer end()
		defer func() { _ = body.Close() }() // an unread remainder is discarded
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

// jsonLines reads one JSON value per line.
func jsonLines(lines *bufio.Scanner, yield func([]byte, error) bool) error {
	for n := 1; scanLine(lines); n++ {
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

// scanLine is Scan except for a line that is truncated by an error.
func scanLine(lines *bufio.Scanner) bool { return lines.Scan() && lines.Err() == nil }

func streamError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		return &tenon.Error{Code: tenon.CodeRequest, Message: "an item of the stream is larger than " + strconv.Itoa(maxItem) + " bytes"}
	}
	return requestError(err)
}

// events reads server-sent events (WHATWG HTML §9.2). An incomplete event at
// the end is ignored.
func events(lines *bufio.Scanner, yield func([]byte, error) bool) error {
	var e event
	first := true
	for scanLine(lines) {
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
		if e.hasData && !yield(e.item(), nil) {
			return nil
		}
		e = event{id: e.id}
	}
	return streamError(lines.Err())
}

// event is an event that is being read.
type event struct {
	data, name, id, retry []byte
	hasData               bool // it has data
}

func (e *event) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.hasData {
			e.data = append(e.data, '\n')
		}
		e.data, e.hasData = append(e.data, value...), true
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

// item returns the event as JSON.
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
		return 0, nil, nil // the LF may follow
	}
	return i + 1, data[:i], nil
}
