package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Retries of a delivery to the receiver.
const (
	firstRetry = time.Second
	lastRetry  = 10 * time.Second
	retriedFor = 30 * time.Second

	maxAnswer = 64 << 10 // bytes of what a receiver says
)

const contentProto = "application/x-protobuf"

// refusedError says that a receiver took a request but for some of its items, which
// are not to be sent again.
type refusedError struct {
	items   int
	message string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the receiver refused %d of the items: %s", e.items, e.message)
}

// deliver sends a request of OTLP, again for a while where the receiver asks for that.
func (o *Options) deliver(ctx context.Context, path string, body []byte) error {
	late := time.Now().Add(retriedFor)
	for pause := firstRetry; ; pause = min(pause*3/2, lastRetry) {
		after, err := o.post(ctx, path, body)
		if err == nil || after < 0 {
			return err
		}
		wait := max(after, pause/2+rand.N(pause)) //nolint:gosec // so that not all come back at once
		if time.Now().Add(wait).After(late) {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		}
	}
}

// post sends a request once. after is for how long to wait at least before it is sent
// again; below 0: never.
func (o *Options) post(ctx context.Context, path string, body []byte) (after time.Duration, err error) {
	const never = -1
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.url(path), bytes.NewReader(body))
	if err != nil {
		return never, err
	}
	r.Header.Set("User-Agent", "tenon/"+o.Version)
	for name, value := range o.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", contentProto)
	res, err := o.Client.Do(r)
	var temporary interface{ Timeout() bool }
	switch {
	case errors.As(err, &temporary) && temporary.Timeout() && ctx.Err() == nil:
		return 0, err
	case err != nil:
		return never, err
	}
	defer func() { _ = res.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode >= 200 && res.StatusCode <= 299 {
		if err == nil && strings.HasPrefix(res.Header.Get("Content-Type"), contentProto) {
			err = refused(said)
		}
		return never, err
	}
	const most = 200
	err = fmt.Errorf("%s: %s: %s", r.URL.Redacted(), res.Status, strings.ToValidUTF8(strings.TrimSpace(string(said[:min(len(said), most)])), ""))
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return retryAfter(res.Header.Get("Retry-After")), err
	}
	return never, err
}

// retryAfter reads a Retry-After header; 0: it says nothing.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 16); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// refused reads an Export…ServiceResponse, whose only field is the partial success:
// how many items were refused, and why. A message alone is advice, and what is no such
// answer says nothing.
func refused(answer []byte) error {
	var partial []byte
	var n uint64
	var why []byte
	fields(answer, func(field protowire.Number, _ uint64, text []byte) {
		if field == 1 {
			partial = text
		}
	})
	fields(partial, func(field protowire.Number, v uint64, text []byte) {
		switch int(field) {
		case 1:
			n = v
		case 2:
			why = text
		}
	})
	if n == 0 {
		return nil
	}
	return &refusedError{items: int(min(n, maxBatch)), message: clip(string(why))}
}

// fields visits the numbers and texts of a message, until it is none.
func fields(message []byte, visit func(field protowire.Number, v uint64, text []byte)) {
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		var v uint64
		var text []byte
		rest := message[n:]
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(rest)
		case protowire.BytesType:
			text, n = protowire.ConsumeBytes(rest)
		default:
			n = protowire.ConsumeFieldValue(field, kind, rest)
		}
		if n < 0 {
			return
		}
		visit(field, v, text)
		message = rest[n:]
	}
}
