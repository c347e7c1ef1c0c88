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

var errTrailing = errors.New("bytes follow the end of the compressed body")

// decoders are the content encodings that a door asks for. The transport would
// ask for gzip alone and unpack it, and does neither where a request says
// itself what it takes.
type decoders struct {
	accept            []string  // shared by the requests, never written
	gzip, other, zstd sync.Pool // *gzip.Reader, *brotli.Reader, *zstd.Decoder
}

// maxWindow is what RFC 9659 allows a body that is encoded by zstd: the bytes
// that a decoder has to keep.
const maxWindow = 8 << 20

// ask adds Accept-Encoding where nobody else did and a whole body may come, as
// the transport would. Only what was asked for here is unpacked here.
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

// open puts a decoder before the answer's body, and takes the encoding and
// the length that was on the wire out of its headers. Of the body at most most
// bytes are wanted.
func (d *decoders) open(answer *http.Response, most int64) {
	name := answer.Header.Get("Content-Encoding")
	if name == "" || answer.ContentLength == 0 {
		return
	}
	name = strings.ToLower(name)
	switch name {
	// The last two are not asked for, because whoever has them has one of the
	// others too, and are sent all the same.
	case "gzip", "x-gzip", "br", "deflate", "zstd":
	default:
		return
	}
	body := &decoded{raw: &packed{answer.Body, most, most}, from: d, encoding: name}
	answer.Body, answer.ContentLength, answer.Uncompressed = body, -1, true
	answer.Header.Del("Content-Encoding")
	answer.Header.Del("Content-Length")
}

// packed is a body as it came. One that is much longer packed than what is
// wanted of it says nothing with most of its bytes, and could do so for ever:
// empty members and blocks unpack to nothing.
type packed struct {
	io.ReadCloser
	max, left int64
}

const packing = 1 << 20 // bytes by which a packed body may be longer

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if p.left -= int64(n); p.over() {
		return 0, &tooLargeError{limit: p.max}
	}
	return n, err
}

func (p *packed) over() bool { return p.left < -packing }

// decoded is a body that is unpacked while it is read. Its end is that of both:
// a decoder stops where its stream ends, and bytes that are missing or left
// behind that are an error all the same.
type decoded struct {
	raw      *packed
	from     *decoders
	encoding string
	reader   io.Reader // nil until the first Read
	behind   io.Reader // what the reader has read from, where that is not raw
	err      error     // what ended it
}

func (b *decoded) Read(p []byte) (int, error) {
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
	if err != nil && b.raw.over() { // a decoder may say something else of it
		err = &tooLargeError{limit: b.raw.max}
	}
	b.err = err
	return n, err
}

// start takes a decoder. An empty body is an empty answer.
func (b *decoded) start() (err error) {
	switch b.encoding {
	case "deflate":
		buffered := bufio.NewReader(b.raw)
		b.behind = buffered
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

// startZstd takes a decoder that has no goroutines of its own. Its limit of
// decoded bytes is meant for whole bodies in memory; whoever reads this one
// counts them.
func (b *decoded) startZstd() error {
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

// inflater reads deflate: a zlib stream (RFC 9110 §8.4.1.2), or what some
// services send by that name, without its header.
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

func (b *decoded) end() error {
	var one [1]byte
	from := b.behind
	if from == nil {
		from = b.raw
	}
	n, err := io.ReadFull(from, one[:])
	if n > 0 {
		return errTrailing
	}
	return err
}

// Close gives the decoder back.
func (b *decoded) Close() error {
	switch r := b.reader.(type) {
	case *gzip.Reader:
		b.from.gzip.Put(r)
	case *brotli.Reader:
		b.from.other.Put(r)
	case *zstd.Decoder:
		if r.Reset(nil) == nil { // lets go of the body
			b.from.zstd.Put(r)
		}
	}
	b.reader, b.err = nil, http.ErrBodyReadAfterClose
	return b.raw.Close()
}
