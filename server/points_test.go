package server_test

import (
	"slices"
	"testing"
)

// point is one point of what the protocol demands of a server, with the
// demands that it consists of.
type point struct {
	name    string
	demands []string
}

// points are those of 2026-07-28 in the order of its pages, and behind them
// what earlier revisions and a person's forms want.
func points() []point {
	return []point{
		{"POST is answered with JSON or a stream, a notification with 202", []string{
			"a notification is accepted with 202 and no body", "what is said before the answer makes it an event stream", "without a session only POST is served",
		}},
		{"who may ask: origin and host", []string{"a page of a foreign origin is refused with 403", "a foreign host name on a loopback address is refused with 403"}},
		{"headers repeat the body", []string{
			"the version header equals the body", "Mcp-Method equals the body", "Mcp-Name equals the body", "Mcp-Name in base64 is decoded before it is compared",
			"white space around a header is not part of it", "values of headers are compared with their case",
		}},
		{"_meta says who asks", []string{"_meta names the version", "_meta holds the client's capabilities"}},
		{"an unknown version is refused", []string{"an unknown version is refused with the known ones"}},
		{"an unknown method is 404", []string{"an unknown method is 404"}},
		{"discover", []string{"discover is served without anything before it"}},
		{"every result names its type", []string{"every result names its type"}},
		{"what may be cached says for how long", []string{"lists and discover say for how long they hold"}},
		{"what is served is declared", []string{"what is not declared is not served"}},
		{"the server sends no requests", []string{"a question is never a request of the server's own"}},
		{"rounds", []string{
			"only calls, prompts and resources have rounds", "an answer that needs input says which, and has a state", "nothing is asked that the client did not declare",
			"the keys of questions are unique", "a state that was tampered with is refused", "a state belongs to its request", "a missing answer is asked for again",
			"answers that nobody asked for are ignored", "a form that is filled in wrongly never reaches who asked",
		}},
		{"subscriptions", []string{
			"the acknowledgement comes first", "every message of a subscription names it", "only what was asked for is sent", "several subscriptions live side by side",
			"a subscription that the server ends has a result",
		}},
		{"a cancelled request ends and is silent", []string{"closing the stream cancels the call", "nothing is sent for a cancelled request"}},
		{"no log without a level, no progress back", []string{"no log message without a level", "progress grows"}},
		{"access is bounded", []string{"calls at a time are bounded"}},
		{"x-mcp-header", []string{
			"headers that repeat arguments equal them", "such a header is absent where its argument is", "numbers are compared as numbers",
			"an annotation that breaks a rule binds no header", "a header carries no integer that JavaScript cannot",
		}},
		{"ids", []string{"an id is a string or an integer", "an answer has the id of its request"}},
		{"stdio", []string{
			"a message on stdio is one line", "nothing but messages is on the output of stdio", "what was asked before the input ended is answered", "the end of the input ends the conversation",
		}},
		{"initialize", []string{"initialize is answered with a version that is served"}},
		{"earlier revisions", []string{"only 2025-03-26 has batches", "a batch is bounded", "an ended session is 404", "a link is text before 2025-06-18"}},
	}
}

// TestDemands checks that the server keeps every rule. For each of them
// .ci/mutants/protocol.txt has a line of the server that keeps it, and without
// which its check fails.
func TestDemands(t *testing.T) {
	all := slices.Concat(demands(), laterDemands())
	checked := map[string]bool{}
	for _, p := range points() {
		t.Run(p.name, func(t *testing.T) {
			for _, name := range p.demands {
				i := slices.IndexFunc(all, func(d demand) bool { return d.name == name })
				if i < 0 || checked[name] {
					t.Fatalf("there is no demand %q, or it stands there twice", name)
				}
				checked[name] = true
				t.Run(name, func(t *testing.T) {
					if problem := all[i].check(t); problem != "" {
						t.Errorf("the rule is broken: %s", problem)
					}
				})
			}
		})
	}
	for _, d := range all {
		if !checked[d.name] {
			t.Errorf("the demand %q belongs to no point", d.name)
		}
	}
}
