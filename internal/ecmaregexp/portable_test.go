package ecmaregexp_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/ecmaregexp"
)

func TestPortablePattern(t *testing.T) {
	same := map[string]string{
		"empty":                        ``,
		"plain text with a slash":      `^https://a/b$`,
		"escapes that both have":       `^\d\D\w\W\s\S\b\B\f\n\r\t\v\x41\^\$\\\.\*\+\?\(\)\[\]\{\}\|\/$`,
		"groups and alternatives":      `^(a|b)(?:c|)(?<name_1>d)()$`,
		"quantifiers":                  `a*b+c?d*?e+?f??g{2}h{2,}i{2,3}j{0,1}?`,
		"classes":                      `[a-z\d_.][^a-f][-a][a-][\w-][a\-z][[][.-][{}()|*+?$^][\]\^\\]`,
		"ranges that begin or end odd": `[+--][--/][a-z-9]`,
		"other scripts":                `^[äöü]+ÄÖÜ😀$`,
		"general categories":           `\p{L}\P{Lu}[\p{N}]`,
	}
	for name, p := range same {
		t.Run(name, func(t *testing.T) {
			if fixed, ok := ecmaregexp.PortablePattern(p); !ok || fixed != p {
				t.Errorf("portablePattern(%s) = %s, %v; want it as it is", p, fixed, ok)
			}
		})
	}
	fixed := map[string]struct{ from, want string }{
		"identity escapes":              {`\-\_\@\#\%\"\'\ \&\~\!\,\:\;\<\=\>` + "\\`", `-_@#%"' &~!,:;<=>` + "`"},
		"identity escapes in a class":   {`[\_\@\-\#]`, `[_@\-#]`},
		"a dash behind a set":           {`^[\w-.]+@[\d-a-]$`, `^[\w\-.]+@[\d\-a-]$`},
		"a dash in front of a set":      {`[a-\d]`, `[a\-\d]`},
		"braces and brackets as text":   {`{a}]{b,c}`, `\{a\}\]\{b,c\}`},
		"ends of the text":              {`\Aa\z`, `^a$`},
		"names of groups":               {`(?P<a>b)`, `(?<a>b)`},
		"short categories":              {`\pL\PN\p{^Lu}\P{^Lu}`, `\p{L}\P{N}\P{Lu}\p{Lu}`},
		"code points of ECMA-262":       {`\u0041\u00e9\u{1F600}\uD83D\uDE00\u002B\u000a`, `Aé😀😀\+\x0A`},
		"code points of RE2":            {`\x{41}\x{1F600}\x{5d}`, `A😀\]`},
		"control characters":            {`\cA\cz\0\a` + "\\\n" + `[\b\ca]`, `\x01\x1A\x00\x07\x0A[\x08\x01]`},
		"a digit behind a zero":         {`\0\u0031`, `\x001`},
		"characters special in a class": {`[\u002d\u005d\u005e\x{5c}]`, `[\-\]\^\\]`},
		"what would open a POSIX class": {`[[\:alpha\:]]`, `[[\x3Aalpha:]\]`},
		"POSIX classes":                 {`[[:alpha:]_][^[:digit:][:space:]]`, `[A-Za-z_][^0-9\t\n\v\f\r ]`},
		"other POSIX classes":           {`[[:alnum:]][[:ascii:]][[:blank:]][[:cntrl:]][[:graph:]]`, `[0-9A-Za-z][\x00-\x7F][\t ][\x00-\x1F\x7F][!-~]`},
		"the rest of them":              {`[[:lower:]][[:print:]][[:punct:]][[:upper:]][[:word:]][[:xdigit:]]`, "[a-z][ -~][!-/:-@\\[-`{-~][A-Z][0-9A-Za-z_][0-9A-Fa-f]"},
		"a range between escapes":       {`[\x{41}-\u005a]`, `[A-Z]`},
		"an invalid letter in ASCII":    {`\é`, `é`},
	}
	for name, test := range fixed {
		t.Run(name, func(t *testing.T) {
			got, ok := ecmaregexp.PortablePattern(test.from)
			if !ok || got != test.want {
				t.Errorf("portablePattern(%s) = %s, %v; want %s", test.from, got, ok, test.want)
			}
		})
	}
	refused := map[string][]string{
		"flags":                                 {`(?i)a`, `(?i:a)`, `(?s).`},
		"look-around":                           {`(?=a)`, `(?!a)`, `(?<=a)`, `(?<!a)`},
		"back references":                       {`(a)\1`, `(?<n>a)\k<n>`},
		"possessive and atomic":                 {`a++`, `a*+`, `a?+`, `a{2}+`, `(?>a)`, `a**`, `a{2}{3}`},
		"nothing to repeat":                     {`*`, `a|*`, `(+)`, `^*`, `\b+`, `$?`, `{2}`},
		"quantifiers that are read differently": {`a{,3}`, `a{02}`, `a{2,02}`, `a{3,2}`, `a{1001}`, `(a{1000}){1000}`, `a{,}`},
		"escapes of other dialects":             {`\Z`, `\G`, `\K`, `\R`, `\h`, `\e`, `\Q.\E`, `\C`, `\i`, `\y`},
		"broken escapes":                        {`\`, `\x4`, `\xg0`, `\u12`, `\uD83D`, `\uD83D\u0041`, `\x{110000}`, `\x{}`, `\u{D800}`, `\c1`, `\01`, `[\`},
		"properties":                            {`\p{Greek}`, `\p{Script=Greek}`, `\p{Letter}`, `\p{L`, `\p`, `\pX`},
		"classes":                               {`[]`, `[]a]`, `[^]`, `[^]a]`, `[a`, `[z-a]`, `[\B]`, `[[:foo:]]`, `[[:^alpha:]]`, `[[:alpha]`, `[\w--/]`, `[\w-.-a]`, `[\w-\d-a]`, `[a-\d-z]`, `[J-[:alpha:]]`, `[--[:digit:]]`},
		"groups":                                {`(`, `)`, `a)`, `(a))(`, `(?`, `(?P<a`, `(?P<1>a)`, `(?<a-b>c)`, `(?<a>b)(?<a>c)`, `(?P=a)`, `(?#a)`},
		"no text":                               {"\xff"},
		"too dear":                              {`(a{100}){100}(b{100}){100}(c{100}){100}`, strings.Repeat("a", 5000)},
	}
	for name, list := range refused {
		t.Run(name, func(t *testing.T) {
			for _, p := range list {
				if got, ok := ecmaregexp.PortablePattern(p); ok {
					t.Errorf("portablePattern(%s) = %s; want it rejected", p, got)
				}
			}
		})
	}
}

// What is portable compiles in RE2, stays as it is when it is read again, and
// means the same as the pattern that it comes from, where RE2 can run that.
func FuzzPortablePattern(f *testing.F) {
	for _, p := range []string{
		`^[\w-.]+@{a}\-[[:alpha:]](?P<n>\pL)?$`, `\u{41}\cA[\b\ca]\x{5d}`, `a{2,3}?b{,3}(?i)`, `[a-\d][--/][]a]`, `(a|b*)+\Ax\z`,
	} {
		f.Add(p, "a.b-c@{a}-xß")
	}
	f.Fuzz(func(t *testing.T, p, text string) {
		fixed, ok := ecmaregexp.PortablePattern(p)
		if !ok || len(p) > 200 || len(text) > 200 {
			return
		}
		after, err := regexp.Compile(fixed)
		if err != nil {
			t.Fatalf("portablePattern(%q) = %q, which RE2 rejects: %v", p, fixed, err)
		}
		if again, ok := ecmaregexp.PortablePattern(fixed); !ok || again != fixed {
			t.Fatalf("portablePattern(%q) = %q, and of that %q, %v", p, fixed, again, ok)
		}
		if before, err := regexp.Compile(p); err == nil && before.MatchString(text) != after.MatchString(text) {
			t.Fatalf("%q and %q differ on %q", p, fixed, text)
		}
	})
}
