package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// sight is how exactly a client sees numbers.
type sight int

const (
	byBytes   sight = iota // as they were written
	byValue                // as exact numbers
	byDoubles              // as JavaScript does
)

// judge says what is wrong with the result of a case; nil: nothing is.
func judge(s setting, a *answer, r *result, how sight, plain bool) (problems []string) {
	problem := func(format string, v ...any) {
		problems = append(problems, a.name+": "+fmt.Sprintf(format, v...))
	}
	if r.Thrown != "" {
		problem("no result: %s", r.Thrown)
		return problems
	}
	failed := a.want == fails || a.want != fits && s.policy == "enforce"
	if r.IsError != failed {
		problem("isError is %v: %.200s", r.IsError, r.Content)
		return problems
	}
	if why := verdictProblem(s, a, r); why != "" {
		problem("%s", why)
	}
	structure := r.Structured
	if plain {
		s, structure = setting{"openapi-mcp", s.policy}, members(r.Top)
	}
	if failed {
		if why := failureProblem(s, a, structure); why != "" {
			problem("%s", why)
		}
		return problems
	}
	if why := dataProblem(s, a, structure, how); why != "" {
		problem("%s", why)
	}
	if why := copyProblem(s, r); why != "" && how == byBytes && !plain {
		problem("%s", why)
	}
	return problems
}

// members writes an object again, for the endpoint whose structure is the result.
func members(top map[string]json.RawMessage) []byte {
	b, err := json.Marshal(struct {
		Type  json.RawMessage `json:"type,omitempty"`
		Error json.RawMessage `json:"error,omitempty"`
	}{top["type"], top["error"]})
	if err != nil || top["data"] == nil {
		return b
	}
	// Marshal would compact the data, and its bytes are what matters.
	return append(append(append(b[:len(b)-1], `,"data":`...), top["data"]...), '}')
}

type violation struct{ Keyword string }

func verdictProblem(s setting, a *answer, r *result) string {
	var meta struct {
		Contract *struct {
			Verdict, Executed, Retry string
			Violations               []violation
		} `json:"tenon/contract"`
	}
	_ = json.Unmarshal(r.Meta, &meta) // none is seen below
	c := meta.Contract
	executed := "yes"
	if a.status == cut {
		executed = "unknown" // no whole answer came
	}
	switch {
	case c == nil:
		return "there is no verdict"
	case c.Executed != executed || c.Retry != "safe":
		return "a GET is said to be executed: " + c.Executed + ", " + c.Retry + ", not " + executed
	case s.policy == "off":
		if c.Verdict != "unchecked" && a.want != broken { // what is no JSON is told of under every policy
			return "something is checked under off: " + c.Verdict
		}
		return ""
	case a.want == fails:
		return ""
	}
	verdict := map[want]string{fits: "fits", breaks: "violated", broken: "violated", undeclared: "undeclared"}[a.want]
	if a.want == fits && a.schema == "" && c.Verdict == "unchecked" {
		return "" // the description says nothing about it
	}
	if c.Verdict != verdict {
		return "the verdict is " + c.Verdict + ", not " + verdict
	}
	if a.want == broken && !slices.ContainsFunc(c.Violations, func(v violation) bool { return v.Keyword == "syntax" }) {
		return fmt.Sprintf("no violation of kind syntax: %v", c.Violations)
	}
	return ""
}

func failureProblem(s setting, a *answer, structure []byte) string {
	code := orElse(a.code, "contract_violation")
	var e struct {
		Type     string
		Error    struct{ Code string }
		Status   *bool
		Messages []string
		Data     json.RawMessage
	}
	if s.envelope == "native" {
		if structure != nil {
			return fmt.Sprintf("an error has a structure: %.200s", structure)
		}
		return ""
	}
	if err := json.Unmarshal(structure, &e); err != nil {
		return err.Error()
	}
	if s.envelope == "flowmcp" {
		if e.Status == nil || *e.Status || len(e.Messages) == 0 || string(e.Data) != "null" {
			return fmt.Sprintf("not a failure: %.200s", structure)
		}
		return ""
	}
	if e.Type != "error" || e.Error.Code != code || e.Data != nil {
		return fmt.Sprintf("no error of code %s: %.200s", code, structure)
	}
	return ""
}

// dataProblem compares the data with what the upstream sent.
func dataProblem(s setting, a *answer, structure []byte, how sight) string {
	expected := []byte(a.body)
	switch {
	case a.body == "":
		expected = []byte("null")
	case a.want == broken || a.media != "":
		expected, _ = json.Marshal(string([]rune(a.body))) // a string can be encoded
		how = max(how, byValue)                            // its escapes are free
	}
	if s.envelope == "native" {
		return nativeProblem(s, structure, expected, how)
	}
	var e struct {
		Data json.RawMessage
	}
	if err := json.Unmarshal(structure, &e); err != nil {
		return err.Error()
	}
	if !same(e.Data, expected, how) {
		return fmt.Sprintf("the data is %s, not %s", short(e.Data), short(expected))
	}
	return ""
}

// nativeProblem: an object may stand for itself, all else is wrapped, and under
// off what is no object has no structure.
func nativeProblem(s setting, structure, expected []byte, how sight) string {
	isObject := expected[0] == '{'
	if structure == nil && s.policy == "off" && !isObject || isObject && same(structure, expected, how) {
		return ""
	}
	var e struct{ Result json.RawMessage }
	if err := json.Unmarshal(structure, &e); err != nil || !same(e.Result, expected, how) {
		return fmt.Sprintf("the structure is %s, the value was %s", short(structure), short(expected))
	}
	return ""
}

// copyProblem: the text says what the structure says.
func copyProblem(s setting, r *result) string {
	if r.Structured == nil || len(r.Content) == 0 {
		return ""
	}
	var block struct{ Type, Text string }
	if err := json.Unmarshal(r.Content[0], &block); err != nil {
		return err.Error()
	}
	if s.envelope != "native" && block.Text != string(r.Structured) {
		return fmt.Sprintf("the text is not the bytes of the structure: %s", short([]byte(block.Text)))
	}
	if s.envelope == "native" && json.Valid([]byte(block.Text)) && block.Text[0] == '{' && !bytes.HasPrefix(r.Structured, []byte(`{"result":`)) && !same([]byte(block.Text), r.Structured, byValue) {
		return fmt.Sprintf("the text differs from the structure: %s", short([]byte(block.Text)))
	}
	return ""
}

func same(a, b []byte, how sight) bool {
	if how == byBytes || bytes.Equal(a, b) {
		return bytes.Equal(a, b)
	}
	return reflect.DeepEqual(decode(a, how), decode(b, how))
}

// decode reads a value whose numbers are exact or doubles.
func decode(text []byte, how sight) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return numbersOf(v, how)
}

func numbersOf(v any, how sight) any {
	switch v := v.(type) {
	case json.Number:
		if how == byDoubles || strings.ContainsAny(v.String(), ".eE") {
			double, _ := strconv.ParseFloat(v.String(), 64) // too large is infinite, and no case of this kind
			return double + 0                               // no sign at zero: JavaScript and Python write none
		}
		exact, _ := new(big.Rat).SetString(v.String())
		return exact.RatString()
	case []any:
		for i := range v {
			v[i] = numbersOf(v[i], how)
		}
	case map[string]any:
		for key := range v {
			v[key] = numbersOf(v[key], how)
		}
	}
	return v
}

func short(b []byte) string {
	if len(b) > 200 {
		return fmt.Sprintf("%q… of %d bytes", b[:200], len(b))
	}
	return strconv.Quote(string(b))
}
