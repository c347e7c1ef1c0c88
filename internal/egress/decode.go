package egress

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

var errTrailing = errors.New("the compressed body is followed by other bytes")

// decoders decode the content encodings that a client requests. The transport
// of net/http would only handle gzip, and not even that if the request has an
// Accept-Encoding.
type decoders struct {
	accept            []string  // shared by the requests, never written
	gzip, other, zstd sync.Pool // *gzip.Reader, *brotli.Reader, *zstd.Decoder
}

// maxWindow is the largest zstd window that RFC 9659 allows, in bytes.
const maxWindow = 8 << 20

// ask adds Accept-Encoding unless the request has one or has no whole body,
// like net/http. Only encodings that were requested here are decoded.
func (d *decoders) ask(r *http.Request) (asked bool) {
	if r.Method == http.MethodHead || r.Header.Get("Accept-Encoding") != "" || r.Header.Get("Range") != "" {
		return false
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header["Accept-Encoding"] = d.accept
	return true
}

// open decodes the response's body and removes the encoding and the encoded
// length from its headers. The caller reads at most most bytes of the body.
func (d *decoders) open(answer *http.Response, most int64) {
	name := answer.Header.Get("Content-Encoding")
	if name == "" || answer.ContentLength == 0 {
		return
	}
	name = strings.ToLower(name)
	switch name {
	// The last two are not requested, because servers that have them have one
	// of the others too, but some send them anyway.
	case "gzip", "x-gzip", "br", "deflate", "zstd":
	default:
		return
	}
	body := &decodedBody{raw: &encodedBody{answer.Body, most, most}, from: d, encoding: name}
	answer.Body, answer.ContentLength, answer.Uncompressed = body, -1, true
	answer.Header.Del("Content-Encoding")
	answer.Header.Del("Content-Length")
}

// encodedBody is an encoded body. Empty members and blocks decode to nothing, so a
// body could be endless; it fails if it is much longer than the decoded bytes
// that are wanted.
type encodedBody struct {
	io.ReadCloser
	max, left int64
}

const maxExcess = 1 << 20 // bytes by which an encoded body may be longer

func (p *encodedBody) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.left -= int64(n); p.over() {
		return 0, &tooLargeError{limit: p.max}
	}
	return n, err
}

func (p *encodedBody) over() bool { return p.left < -maxExcess }

// decodedBody is a body that is decoded while it is read. A decoder stops at the
// end of its stream; missing and trailing bytes are errors.
type decodedBody struct {
	raw      *encodedBody
	from     *decoders
	encoding string
	reader   io.Reader // nil until the first Read
	source   io.Reader // what the decoder reads from, if not raw
	err      error     // final error
}

func (b *decodedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.reader == nil {
		if b.err = b.start(); b.err != nil {
			return 0, b.err
		}
	}
	n, err := b.reader.Read(p)
	if err == io.EOF { //nolint:errorlint // a wrapped one is not the end
		err = b.end()
	}
	if err != nil && b.raw.over() { // a decoder may report another error
		err = &tooLargeError{limit: b.raw.max}
	}
	b.err = err
	return n, err
}

// start takes a decoder from the pool. An empty body is an empty response.
func (b *decodedBody) start() (err error) {
	switch b.encoding {
	case "deflate":
		buffered := bufio.NewReader(b.raw)
		b.source = buffered
		b.reader, err = inflater(buffered)
		return err
	case "br":
		r, ok := b.from.other.Get().(*brotli.Reader)
		if !ok {
			b.reader = brotli.NewReader(b.raw)
			return nil
		}
		b.reader = r
		return r.Reset(b.raw)
	case "zstd":
		return b.startZstd()
	}
	r, ok := b.from.gzip.Get().(*gzip.Reader)
	if !ok {
		r = new(gzip.Reader)
	}
	if err := r.Reset(b.raw); err != nil {
		b.from.gzip.Put(r)
		return err
	}
	b.reader = r
	return nil
}

// startZstd takes a decoder without goroutines. Its memory limit is for
// decoding whole bodies; here the reader counts bytes.
func (b *decodedBody) startZstd() error {
	r, ok := b.from.zstd.Get().(*zstd.Decoder)
	if !ok {
		var err error
		if r, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)); err != nil {
			return err
		}
	}
	b.reader = r
	return r.Reset(b.raw)
}

// inflater reads deflate: a zlib stream (RFC 9110 §8.4.1.2) or, as some
// services send it, a stream without the zlib header.
func inflater(raw *bufio.Reader) (io.Reader, error) {
	head, err := raw.Peek(2)
	switch {
	case len(head) == 0:
		return nil, err
	case len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0:
		return zlib.NewReader(raw)
	}
	return flate.NewReader(raw), nil
}

func (b *decodedBody) end() error {
	var one [1]byte
	from := b.source
	if from == nil {
		from = b.raw
	}
	n, err := io.ReadFull(from, one[:])
	if n > 0 {
		return errTrailing
	}
	return err
}

// Close returns the decoder to its pool.
func (b *decodedBody) Close() error {
	switch r := b.reader.(type) {
	case *gzip.Reader:
		b.from.gzip.Put(r)
	case *brotli.Reader:
		b.from.other.Put(r)
	case *zstd.Decoder:
		if r.Reset(nil) == nil { // releases the body
			b.from.zstd.Put(r)
		}
	}
	b.reader, b.err = nil, http.ErrBodyReadAfterClose
	return b.raw.Close()
}
