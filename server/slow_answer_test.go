package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/server"
)

// unread is a response whose client does not read until it is told to.
type unread struct {
	*httptest.ResponseRecorder
	read <-chan struct{}
}

func (u *unread) Write(p []byte) (int, error) {
	<-u.read
	return u.ResponseRecorder.Write(p)
}

// large answers with so many bytes, in text that has to be escaped.
func large(bytes int) tenon.Tool {
	text := strings.Repeat("\"é\n\\ ", bytes/6+1)
	return tool("large", func(context.Context, *tenon.Call) (tenon.Response, error) {
		return tenon.Response{Content: []tenon.Content{{Text: []byte(text)}}}, nil
	})
}

// Clients that do not read hold no more bytes than the budget has: the answers
// of some are on their way, those of others wait, and the rest hear that there
// is no room, with what was executed.
func TestAnswersThatNobodyReadsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const budget = 8 << 20
		s := serve(server.Options{MaxInFlight: 2 * budget}, large(1<<20))
		read := make(chan struct{})
		var clients sync.WaitGroup
		var mu sync.Mutex
		whole, told := 0, 0
		for range 40 {
			clients.Go(func() {
				w := &unread{httptest.NewRecorder(), read}
				s.ServeHTTP(w, post(legacyBody("tools/call", `"name":"large"`)))
				mu.Lock()
				defer mu.Unlock()
				switch body := w.Body.String(); {
				case !json.Valid([]byte(body)):
					t.Errorf("no JSON: %.80s", body)
				case len(body) > 1<<20:
					whole++
				case strings.Contains(body, "cannot be delivered"):
					told++
				default:
					t.Errorf("%.200s", body)
				}
			})
		}
		synctest.Wait()
		if answers, _, calls := s.InFlight(); answers > budget/2 || answers < budget/4 || calls == 0 {
			t.Errorf("%d bytes are on their way, of a share of %d, and %d places are held", answers, budget/2, calls)
		}
		// Another caller is served meanwhile.
		w := answer(s, from("198.51.100.7:1", post(legacyBody("tools/call", `"name":"large"`))))
		if w.Body.Len() < 1<<20 {
			t.Errorf("another caller: %.200s", w.Body)
		}
		close(read)
		clients.Wait()
		if whole+told != 40 || whole < 3 {
			t.Errorf("%d whole, %d told", whole, told)
		}
		if answers, messages, calls := s.InFlight(); answers+messages+calls != 0 {
			t.Errorf("%d and %d bytes, %d places are never given back", answers, messages, calls)
		}
		time.Sleep(time.Minute) // memory is given back
	})
}

// A call is under way until its answer was written.
func TestPlaceIsHeldUntilTheAnswerIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{MaxConcurrent: 1}, large(1<<17))
		read := make(chan struct{})
		var clients sync.WaitGroup
		for range 2 {
			clients.Go(func() {
				s.ServeHTTP(&unread{httptest.NewRecorder(), read}, post(legacyBody("tools/call", `"name":"large"`)))
			})
		}
		synctest.Wait()
		if w := answer(s, post(legacyBody("tools/call", `"name":"large"`))); w.Code != http.StatusServiceUnavailable {
			t.Errorf("a third call found a place: %d", w.Code)
		}
		close(read)
		clients.Wait()
	})
}

// The bytes of an answer are the same however it is written: in one piece or
// many, as JSON, as an event, as a line.
func TestLargeAnswersAreTheSameEverywhere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("ab \"\\\n\té€😀\u2028\x01")
	for _, n := range []int{1 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 300 << 10} {
		var text strings.Builder
		for text.Len() < n {
			text.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		text.WriteString("\xff\xfe") // no UTF-8
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		both := tool("both", func(context.Context, *tenon.Call) (tenon.Response, error) {
			return tenon.Response{Content: []tenon.Content{{Text: []byte(text.String())}, {Type: tenon.ImageContent, MediaType: "image/png", Data: data}}}, nil
		})
		s := open(t, server.Options{}, catalog(both))
		body := legacyBody("tools/call", `"name":"both"`)
		plain := s.post(body)
		if plain.ContentLength < int64(n) {
			t.Errorf("Content-Length is %d", plain.ContentLength)
		}
		want, err := io.ReadAll(plain.Body)
		if err != nil {
			t.Fatal(err)
		}
		var decoded struct {
			Result struct {
				Content []struct {
					Text string
					Data []byte
				}
			}
		}
		if err := json.Unmarshal(want, &decoded); err != nil {
			t.Fatal(err)
		}
		if c := decoded.Result.Content; c[0].Text != strings.ToValidUTF8(text.String(), "\ufffd\ufffd")[:len(c[0].Text)] || !bytes.Equal(c[1].Data, data) {
			t.Errorf("%d bytes did not arrive as they were", n)
		}
		if line := talk(t, s.server, body+"\n"); strings.TrimSuffix(line, "\n") != string(want) || strings.Count(line, "\n") != 1 {
			t.Errorf("a line of %d bytes differs from the answer", len(line))
		}
		batch := s.post("["+body+"]", "MCP-Protocol-Version: 2025-03-26")
		if all := batch.rest(); all != "["+string(want)+"]" {
			t.Errorf("a batch of %d bytes differs", len(all))
		}
	}
}

func (r *response) rest() string {
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

// A large answer that comes as an event is one, whatever line ends stand in it.
func TestLargeEvent(t *testing.T) {
	value := "{\n\"list\":[\r\n" + strings.Repeat("1,\n", 50_000) + "1]}"
	talks := tool("talks", func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
		c.Log("info", "first")
		return tenon.Response{MediaType: "application/json", Body: []byte(value)}, nil
	})
	s := open(t, server.Options{}, catalog(talks))
	for name, header := range map[string]string{"no session": "X: y", "a session": s.session("2025-11-25", "{}")} {
		w := s.post(legacyBody("tools/call", `"name":"talks"`), header)
		w.lines = bufio.NewScanner(w.Body)
		w.lines.Buffer(nil, 4<<20)
		for _, want := range []string{"first", "structuredContent"} {
			if got := w.next(); !strings.Contains(got, want) || !json.Valid([]byte(got)) {
				t.Errorf("%s: %.100s", name, got)
			}
		}
	}
}

// Who reads steadily gets all of an answer, though it takes longer than any
// one deadline; deadlines are counted in what was really written.
func TestSteadyReaderIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{WriteTimeout: time.Second}, large(8<<20))
		w := &steady{ResponseRecorder: httptest.NewRecorder()}
		s.ServeHTTP(w, post(legacyBody("tools/call", `"name":"large"`)))
		if w.late || w.Body.Len() < 8<<20 || w.longest > 2*time.Second {
			t.Errorf("late: %v, %d bytes, a deadline %v ahead", w.late, w.Body.Len(), w.longest)
		}
	})
}

// steady takes a tenth of a second for each write, and looks at the deadlines.
type steady struct {
	*httptest.ResponseRecorder
	until   time.Time
	longest time.Duration
	late    bool
}

func (s *steady) SetWriteDeadline(t time.Time) error {
	s.until = t
	s.longest = max(s.longest, time.Until(t))
	return nil
}

func (s *steady) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(len(p)) * time.Second / (4 << 20))
	if time.Now().After(s.until) {
		s.late = true
		return 0, fmt.Errorf("too late")
	}
	return s.ResponseRecorder.Write(p)
}

// Messages that come slowly hold no more than the budget; others wait for it,
// and are read in the end.
func TestMessagesThatComeSlowlyAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(server.Options{MaxInFlight: 8 << 20, ReadTimeout: time.Hour}, echo())
		arguments := `"name":"echo","arguments":{"x":"` + strings.Repeat("y", 1<<20) + `"}`
		var clients sync.WaitGroup
		hold := make(chan struct{})
		for range 20 {
			clients.Go(func() {
				body := legacyBody("tools/call", arguments)
				r := post("")
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader(body[:1<<20]), &held{hold}, strings.NewReader(body[1<<20:])))
				r.ContentLength = int64(len(body))
				if w := answer(s, r); w.Code != http.StatusOK || w.Body.Len() < 1<<20 {
					t.Errorf("%d: %.200s", w.Code, w.Body)
				}
			})
		}
		synctest.Wait()
		if _, messages, _ := s.InFlight(); messages > 2<<20 || messages == 0 {
			t.Errorf("%d bytes of messages are held", messages)
		}
		close(hold)
		clients.Wait()
		if answers, messages, calls := s.InFlight(); answers+messages+calls != 0 {
			t.Errorf("%d and %d bytes, %d places are never given back", answers, messages, calls)
		}
		time.Sleep(time.Minute)
	})
}

// held has nothing to be read, and waits before it says so.
type held struct{ until <-chan struct{} }

func (h *held) Read([]byte) (int, error) {
	<-h.until
	return 0, io.EOF
}
