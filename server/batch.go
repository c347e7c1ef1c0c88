package server

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/tenon-mcp/tenon/internal/incident"
	"github.com/tenon-mcp/tenon/internal/jsonrpc"
)

// maxBatch bounds the messages of a batch.
const maxBatch = 50

func isBatch(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '['
}

// batches reports whether r speaks the one revision that has batches.
func (s *Server) batches(r *http.Request) bool {
	if id := r.Header.Get(headerSession); id != "" && !s.options.Load().NoSessions {
		if v := s.sessions.find(id); v != nil {
			defer v.leave()
			return v.speaks() == jsonrpc.BatchRevision
		}
	}
	v := r.Header.Get(headerRevision)
	return v == "" || v == jsonrpc.BatchRevision
}

// split takes a batch apart without decoding its messages.
func split(body []byte) ([][]byte, *jsonrpc.Error) {
	sc := jsonrpc.Scanner{Src: body}
	var messages [][]byte
	err := sc.Document(func() error {
		if err := sc.Enter(); err != nil {
			return err
		}
		if sc.Space(); sc.Peek() == ']' {
			return sc.Leave()
		}
		for {
			v, err := sc.Value()
			if err != nil {
				return err
			}
			if len(messages) <= maxBatch {
				messages = append(messages, v)
			}
			if done, err := sc.Next(']'); done || err != nil {
				return err
			}
		}
	})
	switch {
	case err != nil:
		return nil, jsonrpc.ParseError(err)
	case len(messages) == 0:
		return nil, jsonrpc.InvalidRequest("an empty batch")
	case len(messages) > maxBatch:
		return nil, jsonrpc.InvalidRequest("a batch holds at most " + strconv.Itoa(maxBatch) + " messages")
	}
	return messages, nil
}

// batch serves a batch of 2025-03-26 (basic, "Batching"): its requests side by
// side, and their answers as one array or, where one of them had more to say,
// as one event stream.
func (s *Server) batch(w http.ResponseWriter, r *http.Request, body []byte) {
	messages, e := split(body)
	if e != nil {
		s.refuse(w, r, nil, e)
		return
	}
	base := request{server: s, era: legacy, outlives: true, revision: jsonrpc.BatchRevision, header: r.Header}
	if r.Header.Get(headerSession) != "" && !s.options.Load().NoSessions {
		v := s.sessionOf(w, r)
		if v == nil {
			return
		}
		defer v.leave()
		base.peer, base.subject, base.within = v.clientState, v.subject, v
	}
	s.attribute(&base, r)
	stream := &events{w: w, timeout: s.options.Load().WriteTimeout}
	var out notifier
	if acceptsEvents(r.Header["Accept"]) {
		out = stream
	}
	answers := s.together(messages, &base, func(q *request, a *answer) {
		q.out = out
		s.respond(r.Context(), q, a)
	})
	defer s.releaseAll(answers)
	switch {
	case len(answers) == 0:
		w.WriteHeader(http.StatusAccepted)
	case stream.streaming():
		for _, a := range answers {
			_ = stream.answer("", a) // who is gone hears nothing
		}
	default:
		s.send(w, http.StatusOK, joined(answers))
	}
}

// joined makes one array of answers, whose bytes stay where they are.
func joined(answers []*answer) *answer {
	all := &answer{}
	all.write("[")
	for i, a := range answers {
		if i > 0 {
			all.write(",")
		}
		all.join(a)
	}
	all.write("]")
	return all
}

// debtsOf takes over what answers owe.
func debtsOf(answers []*answer) (all []debt) {
	for _, a := range answers {
		all = append(all, a.owes...)
		a.owes = nil
	}
	return all
}

func (s *Server) releaseAll(answers []*answer) {
	for _, a := range answers {
		s.release(a)
	}
}

// together serves the messages of a batch and returns the answers, in the
// order of their requests.
func (s *Server) together(messages [][]byte, base *request, respond func(q *request, a *answer)) []*answer {
	answers := make([]*answer, len(messages))
	side := incident.NewGroup(s.log, "a message of a batch", maxBatch)
	for i, text := range messages {
		q, e := s.ofBatch(text, base)
		if q == nil && e == nil {
			continue
		}
		side.Go(func() {
			a := s.newAnswer()
			defer a.leave(s) // the others of the batch need its place
			answers[i] = a
			if e != nil {
				a.fail(q.ID, e)
			} else {
				respond(q, a)
			}
		}, nil)
	}
	side.Wait()
	wanted := answers[:0]
	for _, a := range answers {
		if a != nil {
			wanted = append(wanted, a)
		}
	}
	return wanted
}

// ofBatch decodes one message of a batch. One that wants no answer is dealt
// with here.
func (s *Server) ofBatch(text []byte, base *request) (*request, *jsonrpc.Error) {
	var m jsonrpc.Message
	e := jsonrpc.Decode(text, &m)
	if e != nil && isBatch(text) {
		e = jsonrpc.InvalidRequest("a batch holds messages, not batches")
	}
	q := &request{
		Message: m, server: s, era: legacy, subject: base.subject, forwarded: base.forwarded, account: base.account, revision: base.revision,
		waits: true, joint: true, outlives: base.outlives, proto: base.proto, within: base.within, header: base.header, peer: base.peer, closing: base.closing,
	}
	switch {
	case e != nil:
		return q, e
	case m.Response:
		if q.peer != nil {
			q.peer.answered(m)
		}
		return nil, nil
	case m.Notification:
		if q.peer != nil && m.Method == "notifications/cancelled" {
			q.peer.cancel(m.RequestID)
		}
		return nil, nil
	case m.Method == "initialize":
		return q, jsonrpc.InvalidRequest("initialize is not part of a batch")
	}
	return q, nil
}
