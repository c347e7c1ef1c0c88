package ecmaregexp_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/ecmaregexp"
)

// The expected results are those of Node 20.
func TestMatch(t *testing.T) {
	tests := map[string]struct {
		pattern string
		yes, no []string
	}{
		"white space":              {`^\s$`, []string{" ", "\t", "\v", "\f", "\r", "\n", "\u00a0", "\ufeff", "\u1680", "\u2003", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"}, []string{"", "a", "\u200b", "\u0085", "\u180e"}},
		"no white space":           {`^\S$`, []string{"a", "\u200b", "é", "😀"}, []string{" ", "\u00a0", "\ufeff", "\u2028"}},
		"in a class":               {`^[\s]$`, []string{"\u00a0", "\v"}, []string{"s"}},
		"outside a class":          {`^[^\s]+$`, []string{"abc", "é"}, []string{"a b", "a\u00a0b", "a\ufeff"}},
		"anything":                 {`^[\s\S]$`, []string{"\u00a0", "a", "\n", "😀"}, []string{""}},
		"the dot":                  {`^.$`, []string{"a", "\u0085", "😀", "\v"}, []string{"\n", "\r", "\u2028", "\u2029", "ab"}},
		"any character":            {`^[^]$`, []string{"\n", "\u2028", "a"}, []string{"", "ab"}},
		"no character":             {`[]`, nil, []string{"", "a", "]"}},
		"words are ASCII":          {`^\w+$`, []string{"aZ_09"}, []string{"é", "ß", "\u0130", "\u212a"}},
		"digits are ASCII":         {`^\d$`, []string{"7"}, []string{"٣"}},
		"edges of words":           {`\bcat\b`, []string{"cat", "a cat!", "écaté"}, []string{"cats", "concat"}},
		"ends of the text":         {`^a$`, []string{"a"}, []string{"a\n", "\na", "b\na"}},
		"control characters":       {`^\cZ\cj$`, []string{"\x1a\n"}, []string{"\\cZ", "Zj"}},
		"code units":               {`^\u0041\ud83d\ude00$`, []string{"A😀"}, []string{"A"}},
		"code points":              {`^\u{1F600}\u{041}$`, []string{"😀A"}, []string{"u"}},
		"one character is one":     {`^.{2}$`, []string{"😀😀"}, []string{"😀"}},
		"surrogates match nothing": {`[\ud800-\udfff]`, nil, []string{"😀", "\uFFFD"}},
		"look ahead":               {`^(?=.*[A-Z])(?=.*\d).{4,}$`, []string{"aB1c"}, []string{"ab1c", "aBcd", "B1"}},
		"not ahead":                {`^(?!-)[a-z-]+$`, []string{"a-b"}, []string{"-a"}},
		"look behind":              {`(?<=\$)\d+$`, []string{"$12"}, []string{"12"}},
		"not behind":               {`^[a-z-]+(?<!-)$`, []string{"a-b"}, []string{"a-"}},
		"back references":          {`^(['"]).*\1$`, []string{`'a'`, `"a"`}, []string{`'a"`}},
		"named references":         {`^(?<q>a|b)\k<q>$`, []string{"aa", "bb"}, []string{"ab"}},
		"a group that did nothing": {`^(a)?\1b$`, []string{"b", "aab"}, []string{"ab"}},
		"a group forgets":          {`^(?:(a)|b)*\1$`, []string{"ab", "b", "aa"}, []string{"abc"}},
		"groups behind":            {`(?<=\1(a))c`, []string{"aac"}, []string{"ac"}},
		"many repeats":             {`^a{1,5000}$`, []string{"a", strings.Repeat("a", 5000)}, []string{"", strings.Repeat("a", 5001)}},
		"repeats of repeats":       {`^(?:a{2000}){2}$`, []string{strings.Repeat("a", 4000)}, []string{"a"}},
		"repeats of large sets":    {`^\p{L}{1,500}$`, []string{"aé"}, []string{"a1"}},
		"scripts":                  {`^\p{Script=Greek}+$`, []string{"Ωμ"}, []string{"a", "я"}},
		"scripts by short names":   {`^\p{sc=Cyrl}+$`, []string{"яй"}, []string{"Ω"}},
		"long categories":          {`^\p{Letter}\P{Lowercase_Letter}$`, []string{"éA"}, []string{"éa"}},
		"what is not assigned":     {`^\p{C}$`, []string{"\x00", "\u0378"}, []string{"a"}},
		"binary properties":        {`^\p{White_Space}\p{Alphabetic}\p{ASCII}$`, []string{"\u0085éa"}, []string{" 1a"}},
		"punctuation escaped":      {`^[\w\-\.\@\_]+\@\-$`, []string{"a-._@@-"}, []string{"@-"}},
		"brackets for themselves":  {`^{a}]$`, []string{"{a}]"}, []string{"a"}},
		"a dash behind a set":      {`^[\w-.]$`, []string{"-", ".", "a"}, []string{","}},
		"not anchored":             {`b`, []string{"abc"}, []string{"ac"}},
		"empty":                    {``, []string{"", "a"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := ecmaregexp.Compile(test.pattern)
			if err != nil {
				t.Fatal(err)
			}
			check := func(text string, want bool) {
				for _, p := range []*ecmaregexp.Pattern{p, ecmaregexp.Stepwise(p)} {
					left := 1 << 20
					if got, done := p.Match([]byte(text), &left); got != want || !done {
						t.Errorf("%s on %q: got %v (done %v, linear %v)", test.pattern, text, got, done, p.Linear())
					}
				}
			}
			for _, text := range test.yes {
				check(text, true)
			}
			for _, text := range test.no {
				check(text, false)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, pattern := range []string{
		`(?i)a`, `\Aa\z`, `[[:alpha:]_]`, `a++`, `(?>a)`, `*`, `a**`, `(`, `)`, `a)`, `[a`, `[z-a]`, `a{3,2}`, `(?P<a>b)`, `(?<a>b)(?<a>c)`,
		`\1`, `\k<a>`, `\p{Nothing}`, `\p{Script=Nothing}`, `\pL`, `\Z`, `\h`, `\Q.\E`, `\`, `\u12`, `\x1`, `\c1`, `\u{110000}`, `[]a]`, `^*`, `(?<=a)*`,
		"\xff", strings.Repeat("(", 300), strings.Repeat("a", 1<<17), `(?<=a`,
	} {
		if p, err := ecmaregexp.Compile(pattern); err == nil {
			t.Errorf("%.40q is taken (linear %v)", pattern, p.Linear())
		}
	}
}

// A pattern that would take for ever ends when its budget is spent.
func TestBudget(t *testing.T) {
	text := []byte(strings.Repeat("a", 1<<16) + "!")
	for _, pattern := range []string{`^(?=(a+)+$)b`, `(a*)*\1b`, `(?<=(a|a|a)*)b`, `(?:a|b|c)*?(?=d)`, `(?!a{0,}b)(a*)*$\1c`, `(?=((((a*)*)*)*)*b)`} {
		p, err := ecmaregexp.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		left := 1 << 20
		if matched, done := p.Match(text, &left); done || matched || left >= 0 {
			t.Errorf("%s: got %v, %v with %d steps left", pattern, matched, done, left)
		}
	}
}

// RE2 and the backtracking matcher agree, and neither fails on any pattern and text.
func FuzzMatch(f *testing.F) {
	for _, p := range []string{`^(a|b)*?c{2,3}$`, `[^\s\d-z]+\b`, `(?=a)(?<!b)\1(c)`, `\p{L}.[\u{1F600}-\u{1F64F}]`, `(?:){2}|^$`} {
		f.Add(p, "ab\u00a0cc😀")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := ecmaregexp.Compile(pattern)
		if err != nil || len(pattern) > 200 || len(text) > 200 || !utf8.ValidString(text) {
			return
		}
		left := 1 << 20
		got, done := p.Match([]byte(text), &left)
		if !p.Linear() || !done {
			return
		}
		left = 1 << 20
		if own, done := ecmaregexp.Stepwise(p).Match([]byte(text), &left); done && own != got {
			t.Fatalf("%q on %q: RE2 says %v, the backtracking matcher %v", pattern, text, got, own)
		}
	})
}
