// Package search replaces a large catalog by three tools: one that finds tools
// by plain words, one that describes a tool, and one that calls it. If results
// may have several parts, the tool that returns those remains.
//
// It does not know where tools come from, how calls are validated, nor any
// protocol: a call through it takes the whole path of the named tool, so the
// result has that tool's contract.
//
// On the path of a description it is between [gateway.Build] and the gateway: a
// catalog goes in, a catalog comes out.
package search

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-mcp/tenon"
	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/rawjson"
)

// Limits of a result of search_tools.
const (
	defaultHits = 5
	maxText     = 300 // bytes of a tool's description in it
	maxTopics   = 40

	nearlyAsGood = 0.95 // of the score of the last hit that is returned
)

const (
	searchInput = `{"type":"object","properties":{` +
		`"query":{"type":"string","minLength":1,"maxLength":1000,"description":"what you want to do, in plain words"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":20,"description":"how many tools to return; default: 5"}},"required":["query"],"additionalProperties":false}`
	searchOutput = `{"type":"object","properties":{"tools":{"type":"array","items":{"type":"object","properties":{` +
		`"tool":{"type":"string","description":"name of the tool, for describe_tool and call_tool"},"description":{"type":"string"},"readOnly":{"type":"boolean"},` +
		`"required":{"type":"array","items":{"type":"string"}},"optional":{"type":"array","items":{"type":"string"}}},` +
		`"required":["tool","description","required","optional"]}},` +
		`"more":{"type":"integer","description":"how many others match nearly as well as the last of these: raise limit, or be more specific"},` +
		`"hint":{"type":"string"},"topics":{"type":"array","description":"topics of the tools, if none was found","items":{"type":"string"}},` +
		`"of":{"type":"integer","description":"number of tools that were searched"}},"required":["tools","of"]}`
)

// Wrap returns a catalog with the tools search_tools, describe_tool and
// call_tool in place of all tools of c. Resources, templates and prompts
// remain. The index is built at the first search. Without the tool describe in c
// there is no describe_tool either.
func Wrap(c *gateway.Catalog) *gateway.Catalog {
	s, next := newSearcher(c), c.NextPart()
	offer := tenon.Features{
		Tools:     []tenon.Tool{s.searchTool(), s.describeTool(), s.callTool()},
		Resources: c.Resources(), ResourceTemplates: c.Templates(), Prompts: c.Prompts(), Diagnostics: c.Diagnostics(),
	}
	forward := map[string]gateway.Forward{"call_tool": s.forwardCall}
	if s.describes == nil {
		offer.Tools = slices.Delete(offer.Tools, 1, 2)
	}
	if next != nil {
		offer.Tools = append(offer.Tools, nextTool(next))
		forward[next.Name()] = func(args []byte) (*gateway.Tool, []byte, error) { return next, args, nil }
	}
	return gateway.Build([]gateway.Mount{{Name: ownSource, Features: offer, Forward: forward}}, gateway.BuildOptions{Describe: gateway.ToggleOff})
}

// ownSource is the source of the tools that the product adds itself.
const ownSource = "tenon"

type searcher struct {
	catalog   *gateway.Catalog
	tools     []*gateway.Tool // those that can be found
	describes *gateway.Tool
	index     func() *index
}

func newSearcher(c *gateway.Catalog) *searcher {
	s := &searcher{catalog: c}
	for _, e := range c.Tools() {
		switch e.Source() {
		case "":
			if e != c.NextPart() {
				s.describes = e
			}
		case ownSource:
		default:
			s.tools = append(s.tools, e)
		}
	}
	s.index = sync.OnceValue(s.newIndex)
	return s
}

func (s *searcher) newIndex() *index {
	return newIndex(s.texts(), readSynonyms(synonymTable))
}

func (s *searcher) texts() []text {
	texts := make([]text, len(s.tools))
	for i, e := range s.tools {
		t := e.Tool()
		texts[i] = textOf(&t)
	}
	return texts
}

func (s *searcher) searchTool() tenon.Tool {
	yes, no := true, false
	return tenon.Tool{
		Name: "search_tools", Title: "Search tools",
		Description: fmt.Sprintf("Finds tools for a task among the %d of this server. Describe the task in plain words, then call the best tool with call_tool.", len(s.tools)),
		Annotations: tenon.Annotations{ReadOnly: &yes, Idempotent: &yes, OpenWorld: &no}, Policy: tenon.Enforce, Envelope: tenon.Native, RawSchemas: true,
		Contract: contract(searchInput, searchOutput),
		Handler: func(_ context.Context, c *tenon.Call) (tenon.Response, error) {
			asked := struct {
				Query string
				Limit int
			}{Limit: defaultHits}
			if err := json.Unmarshal(c.Args, &asked); err != nil {
				return tenon.Response{}, err
			}
			found := s.found(asked.Query, asked.Limit)
			return tenon.Response{MediaType: "application/json", Body: found, Content: []tenon.Content{{Text: found}}}, nil // not indented: models pay for spaces
		},
	}
}

// found writes the best tools for a query.
func (s *searcher) found(query string, limit int) []byte {
	x := s.index()
	hits := x.find(query)
	n := min(limit, len(hits))
	dst := []byte(`{"tools":[`)
	for i, h := range hits[:n] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendHit(dst, s.tools[h.tool])
	}
	dst = append(dst, ']')
	if more := similar(hits, n); more > 0 {
		dst = fmt.Appendf(dst, `,"more":%d`, more)
	}
	if hint := x.hint(query); hint != "" {
		dst = rawjson.AppendString(append(dst, `,"hint":`...), hint)
	}
	if topics := s.topics(); n == 0 && topics != nil {
		dst = appendNames(append(dst, `,"topics":`...), topics)
	}
	return fmt.Appendf(dst, `,"of":%d}`, len(s.tools))
}

// similar returns how many hits after the first n are about as good as the last
// of those.
func similar(hits []hit, n int) int {
	if n == 0 {
		return 0
	}
	more := 0
	for more < len(hits)-n && hits[n+more].score >= nearlyAsGood*hits[n-1].score {
		more++
	}
	return more
}

// topics returns the groups of the tools, up to a limit.
func (s *searcher) topics() []string {
	var all []string
	for _, e := range s.tools {
		if g := e.Tool().Group; g != "" && len(all) < maxTopics && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	return all
}

func appendHit(dst []byte, e *gateway.Tool) []byte {
	t := e.Tool()
	dst = rawjson.AppendString(append(dst, `{"tool":`...), t.Name)
	dst = rawjson.AppendString(append(dst, `,"description":`...), brief(&t))
	if h := t.Annotations.ReadOnly; h != nil {
		dst = fmt.Appendf(dst, `,"readOnly":%t`, *h)
	}
	input, _ := e.Schemas()
	required, optional := arguments(input)
	dst = appendNames(append(dst, `,"required":`...), required)
	dst = appendNames(append(dst, `,"optional":`...), optional)
	return append(dst, '}')
}

// brief returns the title and the first sentence of the description.
func brief(t *tenon.Tool) string {
	about := t.Title
	if more := lead(textOf(t).body); more != "" {
		about = strings.TrimSpace(about + "\n" + more)
	}
	if len(about) > maxText {
		about = strings.ToValidUTF8(about[:maxText-len("…")], "") + "…"
	}
	return about
}

// arguments returns the names of a tool's arguments.
func arguments(input []byte) (required, optional []string) {
	doc, err := rawjson.Parse(input)
	if err != nil {
		return nil, nil
	}
	list := doc.Get(doc.Root(), "required")
	for n := doc.First(list); n != rawjson.None; n = doc.Next(n) {
		required = append(required, doc.Str(n))
	}
	props := doc.Get(doc.Root(), "properties")
	for n := doc.First(props); n != rawjson.None; n = doc.Next(n) {
		if !slices.Contains(required, doc.Key(n)) {
			optional = append(optional, doc.Key(n))
		}
	}
	return required, optional
}

func appendNames(dst []byte, names []string) []byte {
	dst = append(dst, '[')
	for i, n := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, n)
	}
	return append(dst, ']')
}

func contract(input, output string) tenon.Contract {
	return tenon.Contract{Input: []byte(input), Responses: []tenon.ResponseSchema{{MediaType: "application/json", Schema: []byte(output)}}}
}
