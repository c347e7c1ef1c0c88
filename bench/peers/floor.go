package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/tenon-mcp/tenon/bench/sample"
)

// question is all that a floor reads of a request.
type question struct {
	ID     json.RawMessage `json:"id"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
}

// floorPeer is the least that serves a typed function: decode the argument,
// encode the result, write it into both places. Nothing is validated.
func floorPeer() peer {
	return typedPeer("net/http and encoding/json by hand, typed, nothing checked", splice)
}

// alikePeer is the floor with the answer that tenon gives, byte for byte up to
// maxIndented: an indented text, and what is said of the contract, though it
// knows nothing of one.
func alikePeer() peer {
	return typedPeer("net/http and encoding/json by hand, typed, nothing checked, tenon's answer", spliceAlike)
}

func typedPeer(configuration string, splice func(id, value []byte) ([]byte, error)) peer {
	results := sample.Results()
	answer := func(body []byte) ([]byte, error) {
		var q question
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		result, ok := results[q.Params.Name]
		var args sample.Args
		var in any = &args
		if q.Params.Name == sample.Echo {
			in = &result
		} else if !ok {
			return nil, fmt.Errorf("no tool %q", q.Params.Name)
		}
		if err := json.Unmarshal(q.Params.Arguments, in); err != nil {
			return nil, err
		}
		value, err := json.Marshal(result)
		if err != nil {
			return nil, err
		}
		return splice(q.ID, value)
	}
	return peer{
		configuration: configuration,
		http:          func() (http.Handler, error) { return byHand(answer), nil },
		stdio:         func(context.Context) error { return loop(answer) },
	}
}

// limitPeer is the least that serves an upstream: call it and put its bytes
// into both places, unseen.
func limitPeer(upstream string) peer {
	return upstreamPeer(upstream, "net/http by hand, the upstream's bytes spliced, nothing checked", splice)
}

// limitAlikePeer is the limit with the answer that tenon gives, as alikePeer is
// the floor with it.
func limitAlikePeer(upstream string) peer {
	return upstreamPeer(upstream, "net/http by hand, the upstream's bytes spliced, nothing checked, tenon's answer", func(id, value []byte) ([]byte, error) {
		return splicedAlike(id, value, upstreamMeta+strconv.Itoa(len(value))+upstreamEnd)
	})
}

func upstreamPeer(upstream, configuration string, splice func(id, value []byte) ([]byte, error)) peer {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true}}
	answer := func(body []byte) ([]byte, error) {
		var q question
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		var args sample.Args
		if err := json.Unmarshal(q.Params.Arguments, &args); err != nil {
			return nil, err
		}
		query := url.Values{"city": {args.City}, "days": {strconv.Itoa(args.Days)}}
		r, err := client.Get(upstream + "/" + q.Params.Name + "?" + query.Encode())
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		value := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, value); err != nil {
			return nil, err
		}
		return splice(q.ID, value)
	}
	return peer{
		configuration: configuration,
		http:          func() (http.Handler, error) { return byHand(answer), nil },
	}
}

// splice writes an answer with value as structured content and as text.
func splice(id, value []byte) ([]byte, error) { return spliced(id, value, value, "") }

// maxIndented is the size of a value up to which its text is indented.
const maxIndented = 8 << 10

// What tenon says of a function's answer and of an upstream's around the length of
// that.
const (
	aboutServer  = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tenon","version":"0"},"tenon/contract":{"verdict":"fits",`
	alikeMeta    = aboutServer + `"executed":"yes","retry":"unsafe","mediaType":"application/json"}},`
	upstreamMeta = aboutServer + `"executed":"yes","retry":"safe","status":200,"mediaType":"application/json"},` +
		`"tenon/upstream":{"status_code":200,"headers":{"Content-Length":"`
	upstreamEnd = `","Content-Type":"application/json"}}},`
)

func spliceAlike(id, value []byte) ([]byte, error) { return splicedAlike(id, value, alikeMeta) }

func splicedAlike(id, value []byte, meta string) ([]byte, error) {
	if len(value) > maxIndented {
		return spliced(id, value, value, meta)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, value, "", "  "); err != nil {
		return nil, err
	}
	return spliced(id, value, text.Bytes(), meta)
}

func spliced(id, value, readable []byte, meta string) ([]byte, error) {
	text, err := json.Marshal(string(readable))
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, 160+len(id)+len(meta)+len(text)+len(value))
	out = append(append(out, `{"jsonrpc":"2.0","id":`...), id...)
	out = append(append(out, `,"result":{"resultType":"complete",`...), meta...)
	out = append(append(out, `"content":[{"type":"text","text":`...), text...)
	out = append(append(out, `}],"structuredContent":`...), value...)
	return append(out, "}}"...), nil
}

func byHand(answer func([]byte) ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, err := answer(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = w.Write(text)
	})
}

// loop is the bare stdio server: a line in, a line out, one after the other.
func loop(answer func([]byte) ([]byte, error)) error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		text, err := answer(line)
		if err != nil {
			return err
		}
		if _, err := os.Stdout.Write(append(text, '\n')); err != nil {
			return err
		}
	}
}
