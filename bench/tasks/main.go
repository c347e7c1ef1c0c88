// Command tasks counts the tokens that a model reads and writes for ten tasks over
// GitHub's document, in search mode as it is and as it was: without parts of results and
// with descriptions as JSON Schema.
//
//	tasks TENON GITHUB OUT.json
//
// Calls are scripted, and a stand-in for the service, as large as its real responses,
// keeps what is written. Counted is what calls and results say (o200k_base), without the
// definitions that every request repeats, which are printed beside.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tiktoken-go/tokenizer"
)

// most is what the ten tasks may take.
const most = 40_000

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: tasks TENON GITHUB OUT.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "tasks:", err)
		os.Exit(1)
	}
}

func run(tenon, github, out string) error {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	ways := []way{
		{name: "search", fields: true, flags: []string{"--tools-mode", "search"}},
		{name: "search without parts of results", flags: []string{"--tools-mode", "search"}},
	}
	sums := map[string]int{}
	rows := make([]string, len(tasks()))
	for i := range ways {
		w := &ways[i]
		if err := w.start(tenon, github, codec); err != nil {
			return err
		}
		defer w.stop()
		for k, t := range tasks() {
			n, calls, err := w.cost(&t)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", w.name, t.what, err)
			}
			sums[w.name] += n
			if i == 0 {
				rows[k] = fmt.Sprintf("| %d | %s | %d |", k+1, short(t.what), calls)
			}
			rows[k] += fmt.Sprintf(" %d |", n)
		}
	}
	fmt.Print("| | task | calls |")
	for _, w := range ways {
		fmt.Printf(" %s |", w.name)
	}
	fmt.Print("\n|---|---|---|---|---|\n" + strings.Join(rows, "\n") + "\n| | sum | |")
	for _, w := range ways {
		fmt.Printf(" %d |", sums[w.name])
	}
	fmt.Println("\n\ntokens of o200k_base")
	for _, w := range ways {
		fmt.Printf("definitions in %s: %d\n", w.name, w.definitions)
	}
	text, err := json.MarshalIndent(map[string]any{"tokenizer": "o200k_base", "tokens": sums, "most": most}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, append(text, '\n'), 0o600); err != nil {
		return err
	}
	if sums["search"] > most {
		return fmt.Errorf("ten tasks take %d tokens in search mode, more than %d", sums["search"], most)
	}
	return nil
}

// way is how a server publishes its tools, and how a model calls them.
type way struct {
	name   string
	flags  []string
	fields bool // a model takes parts of results

	codec       tokenizer.Codec
	standIn     *standIn
	web         *http.Server
	server      *exec.Cmd
	url         string
	definitions int
}

func (w *way) start(tenon, github string, codec tokenizer.Codec) error {
	w.codec, w.standIn = codec, newStandIn()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.web = &http.Server{Handler: w.standIn, ReadHeaderTimeout: time.Minute}
	go func() { _ = w.web.Serve(l) }()
	flags := append([]string{"serve", "--http", "127.0.0.1:0", "--evidence", "off", "--confirm", "off", "--base-url", "http://" + l.Addr().String(), "--allow-private-host", l.Addr().String()}, w.flags...)
	w.server = exec.Command(tenon, append(flags, github)...)
	said, err := w.server.StderrPipe()
	if err != nil {
		return err
	}
	if err := w.server.Start(); err != nil {
		return err
	}
	listening := regexp.MustCompile(`listening on (http\S+)`)
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			w.url = found[1]
			go func() {
				for lines.Scan() { //nolint:revive // what else it says is not read
				}
			}()
			break
		}
	}
	if w.url == "" {
		return errors.New("the server does not listen")
	}
	var list struct{ Tools []json.RawMessage }
	if err := w.ask("tools/list", object{}, &list); err != nil {
		return err
	}
	text, err := json.Marshal(list.Tools)
	if err != nil {
		return err
	}
	w.definitions, err = codec.Count(string(text))
	return err
}

func (w *way) stop() {
	if w.server != nil && w.server.Process != nil {
		_ = w.server.Process.Kill()
		_ = w.server.Wait()
	}
	_ = w.web.Close()
}

// ask makes a request of the server.
func (w *way) ask(method string, params object, into any) error {
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	var message struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.NewDecoder(got.Body).Decode(&message); err != nil {
		return err
	}
	if message.Error != nil {
		return fmt.Errorf("%s: %s", method, message.Error)
	}
	return json.Unmarshal(message.Result, into)
}

// model is one conversation.
type model struct {
	*way

	calls, tokens int
}

// cost does a task and counts what was said.
func (w *way) cost(t *task) (tokens, calls int, err error) {
	m := &model{way: w}
	for _, f := range t.find {
		text, err := m.call("search_tools", object{"query": f.query, "limit": 3})
		if err != nil {
			return 0, 0, err
		}
		if !strings.Contains(text, `"`+f.tool+`"`) {
			return 0, 0, fmt.Errorf("%q does not find %s: %.300s", f.query, f.tool, text)
		}
		if _, err := m.call("describe_tool", object{"tool": f.tool}); err != nil {
			return 0, 0, err
		}
	}
	if err := t.do(m); err != nil {
		return 0, 0, err
	}
	return m.tokens, m.calls, nil
}

// call calls a tool of the server and counts the call and its result.
func (m *model) call(name string, args object) (text string, err error) {
	written, err := json.Marshal(object{"name": name, "arguments": args})
	if err != nil {
		return "", err
	}
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := m.ask("tools/call", object{"name": name, "arguments": args}, &result); err != nil {
		return "", err
	}
	var all []string
	for _, block := range result.Content {
		all = append(all, block.Text)
	}
	text = strings.Join(all, "\n")
	if result.IsError {
		return "", fmt.Errorf("%s: %.500s", name, text)
	}
	for _, said := range []string{string(written), text} {
		n, err := m.codec.Count(said)
		if err != nil {
			return "", err
		}
		m.tokens += n
	}
	m.calls++
	return text, nil
}

// tool calls a tool of the document and returns its data, of all parts if it is a list.
func (m *model) tool(name string, args object, fields []string) (any, error) {
	if m.fields {
		args["fields"] = slices.Clone(fields)
	}
	text, err := m.call("call_tool", object{"tool": name, "arguments": args})
	var whole []any
	for err == nil {
		var result struct {
			Data  any
			Token string `json:"resume_token"`
		}
		if err = json.Unmarshal([]byte(strings.SplitN(text, "\n", 2)[0]), &result); err != nil {
			return nil, fmt.Errorf("%s: %w in %.300s", name, err, text)
		}
		list, ok := result.Data.([]any)
		if whole = append(whole, list...); !ok {
			return result.Data, nil
		}
		if result.Token == "" {
			return whole, nil
		}
		text, err = m.call("next_part", object{"resume_token": result.Token})
	}
	return nil, err
}
