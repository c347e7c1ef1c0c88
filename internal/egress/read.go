package egress

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"

	"github.com/tenon-mcp/tenon/internal/inflight"
)

const (
	trusted     = 1 << 20  // bytes that are set aside at once because a header announces them
	firstBuffer = 16 << 10 // bytes of a new buffer for bodies of unknown length
	largestKept = 4 << 20  // bytes of the largest buffer that is kept for the next body
)

// tooLargeError says that a body has more than limit bytes, or all those of a
// budget together.
type tooLargeError struct {
	limit int64
	all   bool
}

func (e *tooLargeError) Error() string {
	if e.all {
		return fmt.Sprintf("the answers of one call are larger than %d bytes together", e.limit)
	}
	return fmt.Sprintf("the answer is larger than %d bytes", e.limit)
}

var errSwitched = errors.New("the upstream switched to another protocol")

// readBody reads the answer's body, of at most limit bytes. With an error the
// bytes read so far come back as well.
//
//nolint:contextcheck,nolintlint // the request has the context
func readBody(d *door, answer *http.Response, limit int64) ([]byte, error) {
	limit = min(max(limit, 0), math.MaxInt64-1)
	switch n := answer.ContentLength; {
	case answer.StatusCode == http.StatusSwitchingProtocols:
		return nil, errSwitched
	case answer.Request.Method == http.MethodHead || n == 0:
		return nil, nil
	case n > limit:
		return nil, &tooLargeError{limit: limit}
	case n > 0 && n <= trusted:
		return readExactly(answer.Body, int(n))
	}
	body := inflight.Reader(answer.Request.Context(), answer.Body, answer.ContentLength)
	if answer.ContentLength > 0 || d == nil {
		return readAll(body, nil, limit, answer.ContentLength)
	}
	return d.readPooled(body, limit)
}

// readExactly reads a body whose length is announced.
func readExactly(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) { // not one byte came, but n were promised
		err = io.ErrUnexpectedEOF
	}
	return b[:got], err
}

// readPooled reads into a buffer that other answers use too and copies once,
// to the exact size. A buffer that is not kept is the answer's own.
func (d *door) readPooled(r io.Reader, limit int64) ([]byte, error) {
	kept, ok := d.scratch.Get().(*[]byte)
	if !ok {
		kept = new(make([]byte, 0, firstBuffer))
	}
	b, err := readAll(r, (*kept)[:0], limit, -1)
	if cap(b) > largestKept && len(b) > cap(b)/2 {
		return b, err
	}
	own := append([]byte(nil), b...)
	if cap(b) <= largestKept {
		*kept = b
		d.scratch.Put(kept)
	}
	return own, err
}

// readAll appends to b what r gives, and fails after limit bytes. announced is
// the length that a header gives, which is not exceeded in what is set aside;
// negative: none.
func readAll(r io.Reader, b []byte, limit, announced int64) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			more := max(len(b), 512) // append would grow by a quarter and copy a large body five times
			if left := announced + 1 - int64(len(b)); left > 0 {
				more = int(min(int64(max(more, trusted)), left))
			}
			b = slices.Grow(b, more)
		}
		// One byte more than allowed tells a full body from one too large.
		room := min(int64(cap(b)-len(b)), limit-int64(len(b))+1)
		n, err := r.Read(b[len(b) : len(b)+int(room)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return b[:limit], &tooLargeError{limit: limit}
		case err == io.EOF: // a wrapped one is not the end
			return b, nil
		case err != nil:
			return b, err
		}
	}
}
