package ecmaregexp_test

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/ecmaregexp"
)

// judge is what Node is asked and what it answers.
type judge struct {
	Pattern string   `json:"pattern"`
	Texts   []string `json:"texts"`
	Legal   bool     `json:"legal"` // with the u flag
	Plain   bool     `json:"plain"` // without flags only
	Matches []bool   `json:"matches"`
}

const script = `
const list = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const j of list) {
  try { const re = new RegExp(j.pattern, 'u'); j.legal = true; j.matches = j.texts.map(t => re.test(t)); }
  catch (e) {
    j.legal = false;
    try { const re = new RegExp(j.pattern); j.plain = true; j.matches = j.texts.map(t => re.test(t)); } catch (e) { }
  }
}
process.stdout.write(JSON.stringify(list));`

// ask lets Node judge.
func ask(t *testing.T, list []judge) []judge {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node to compare with")
	}
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "-e", script)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var judged []judge
	if err := json.Unmarshal(out, &judged); err != nil {
		t.Fatal(err)
	}
	return judged
}

// Patterns that are put together at random mean what they mean in Node.
func TestAgreesWithNode(t *testing.T) {
	const patterns, texts = 2000, 12
	for seed := range uint64(2) {
		m := maker{rand.New(rand.NewPCG(seed, 7))}
		var list []judge
		for range patterns {
			j := judge{Pattern: m.pattern(3)}
			for range texts {
				j.Texts = append(j.Texts, m.text())
			}
			list = append(list, j)
		}
		linear, other := 0, 0
		for _, j := range ask(t, list) {
			p, err := ecmaregexp.Compile(j.Pattern)
			switch {
			case !j.Legal && (err != nil || !j.Plain || needsFlag(j)):
				continue
			case err != nil:
				t.Fatalf("only Node takes %q: %v", j.Pattern, err)
			}
			if p.Linear() {
				linear++
			} else {
				other++
			}
			for i, text := range j.Texts {
				if strings.Contains(text, "😀") && strings.ContainsAny(j.Pattern, "bB") {
					continue // V8 looks for edges of words inside surrogate pairs, too
				}
				left := 1 << 22
				got, done := p.Match([]byte(text), &left)
				if done && got != j.Matches[i] {
					t.Fatalf("%q on %q: got %v, Node says %v (linear %v)", j.Pattern, text, got, j.Matches[i], p.Linear())
				}
			}
		}
		t.Logf("%d patterns ran in RE2, %d in the backtracking matcher", linear, other)
		if linear < patterns/10 || other < patterns/10 {
			t.Error("one of the two was hardly tried")
		}
	}
}

// needsFlag reports whether the u flag changes the meaning of a pattern that is
// legal without it.
func needsFlag(j judge) bool {
	for _, s := range []string{`\p`, `\P`, `\u{`, `\u`, `\k`, "😀"} {
		if strings.Contains(j.Pattern, s) {
			return true
		}
	}
	return strings.Contains(strings.Join(j.Texts, ""), "😀")
}

// maker makes patterns and texts of the same few characters.
type maker struct{ *rand.Rand }

func (m maker) pick(list ...string) string { return list[m.IntN(len(list))] }

func (m maker) char() string {
	return m.pick("a", "a", "b", "b", "c", "_", "1", "-", " ", "\t", "\v", "\r", "\n", "\u00a0", "\ufeff", "\u2028", "é", "Ω", "😀", "\x00", "\x1a")
}

func (m maker) text() string {
	var b strings.Builder
	for range m.IntN(9) {
		b.WriteString(m.char())
	}
	return b.String()
}

func (m maker) pattern(depth int) string {
	var b strings.Builder
	b.WriteString(m.pick("", "", "^"))
	for range 1 + m.IntN(4) {
		b.WriteString(m.term(depth))
	}
	b.WriteString(m.pick("", "", "$"))
	return b.String()
}

func (m maker) term(depth int) string {
	switch n := m.IntN(22); {
	case n < 3 && depth > 0:
		return m.pick("(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>") + m.pattern(depth-1) + ")" + m.pick("", "", m.quantifier())
	case n < 4 && depth > 0:
		return "(?:" + m.pattern(depth-1) + "|" + m.pattern(depth-1) + ")" + m.pick("", m.quantifier())
	case n < 6:
		return m.pick(`\1`, `\2`, `\k<n>`, `\b`, `\B`, "^", "$") + m.pick("", "", m.quantifier())
	case n < 12:
		return m.pick("a", "b", "c", "_", "1") + m.pick("", m.quantifier())
	case n < 15:
		return m.class() + m.pick("", m.quantifier())
	}
	return m.pick(`\s`, `\S`, `\w`, `\W`, `\d`, `\D`, ".", `\cZ`, `\u0061`, `\u{1F600}`, `\ud83d\ude00`, `\x62`, `\0`, `[^]`, `[]`,
		`\p{L}`, `\P{Lu}`, `\p{Script=Greek}`, `\p{sc=Latn}`, `\p{Alphabetic}`, `\/`, `\.`, `\v`, `é`, `-`, `\-`, `\_`, `]`, `{`) + m.pick("", "", m.quantifier())
}

func (m maker) class() string {
	var b strings.Builder
	b.WriteString(m.pick("[", "[^"))
	for range m.IntN(4) {
		b.WriteString(m.pick("a", "b-c", `\s`, `\S`, `\w`, `\W`, `\d`, `-`, "_", `\b`, `\cZ`, "é", "😀", `\u2028`, ".", `\p{L}`, "Α-ω", `\-`, `\ud800-\udfff`, "[", ":"))
	}
	return b.String() + "]"
}

func (m maker) quantifier() string {
	return m.pick("*", "+", "?", "{2}", "{1,2}", "{0,3}", "{2,}", "{0}", "{1,1001}") + m.pick("", "", "?")
}
