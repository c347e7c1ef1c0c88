package charset_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenon-mcp/tenon/internal/charset"
)

func TestTextsBecomeUTF8(t *testing.T) {
	for _, c := range []struct{ name, media, body, want string }{
		{"no charset", "text/plain", "caf\xe9", "caf\xe9"},
		{"UTF-8", "text/plain; charset=utf-8", "\ufeffcafé", "\ufeffcafé"},
		{"UTF-8 by another name", `text/plain; charset="UTF8"`, "café", "café"},
		{"ISO 8859-1", "text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		{"ISO 8859-15", "text/plain; charset=ISO-8859-15", "5 \xa4", "5 €"},
		{"Windows 1252", "text/html; charset=windows-1252", "\x80 \x93caf\xe9\x94", "€ “café”"},
		{"KOI8-R", "text/plain; charset=koi8-r", "\xf0\xd2\xc9", "При"},
		{"Shift JIS", "text/plain; charset=Shift_JIS", "\x93\xfa\x96\x7b", "日本"},
		{"EUC-JP", "text/plain; charset=euc-jp", "\xc6\xfc\xcb\xdc", "日本"},
		{"ISO 2022-JP", "text/plain; charset=iso-2022-jp", "\x1b$BF|K\\\x1b(B", "日本"},
		{"GB 18030", "text/plain; charset=gb18030", "\xc8\xd5\xb1\xbe", "日本"},
		{"Big5", "text/plain; charset=big5", "\xa4\xe9\xa5\xbb", "日本"},
		{"EUC-KR", "text/plain; charset=euc-kr", "\xc7\xd1", "한"},
		{"UTF-16 with a mark of the big end", "text/plain; charset=utf-16", "\xfe\xff\x65\xe5", "日"},
		{"UTF-16 with a mark of the little end", "text/plain; charset=utf-16", "\xff\xfe\xe5\x65", "日"},
		{"UTF-16 without a mark", "text/plain; charset=utf-16", "a\x00", "a"},
		{"UTF-16BE", "text/plain; charset=utf-16be", "\x00a", "a"},
		{"UTF-16 that is cut", "text/plain; charset=utf-16le", "a\x00b", "a\ufffd"},
		{"a mark of UTF-8 under another name", "text/plain; charset=iso-8859-1", "\xef\xbb\xbfcafé", "café"},
		{"bytes that the charset has not", "text/plain; charset=shift_jis", "a\xff", "a\ufffd"},
		{"an unknown charset", "text/plain; charset=klingon", "caf\xe9", "caf\xe9"},
		{"a charset that browsers refuse", "text/plain; charset=iso-2022-kr", "caf\xe9", "caf\xe9"},
		{"quotes, spaces and other parameters", `text/csv ; header=present; Charset = "latin1" `, "caf\xe9", "café"},
		{"nothing", "text/plain; charset=latin1", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(charset.UTF8(c.media, []byte(c.body))); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What has a known charset is UTF-8 afterwards, within the bound; all else is
// as it was.
func FuzzUTF8(f *testing.F) {
	for _, label := range []string{"iso-8859-1", "utf-16", "shift_jis", "iso-2022-jp", "gb18030", "utf-8", "replacement", "x-user-defined", "nothing"} {
		f.Add("text/plain; charset="+label, []byte("caf\xe9 \x1b$B\xff\xfe\x00"))
	}
	f.Fuzz(func(t *testing.T, media string, body []byte) {
		was := bytes.Clone(body)
		got := charset.UTF8(media, body)
		if !bytes.Equal(body, was) {
			t.Fatal("the body was changed")
		}
		if bytes.Equal(got, body) {
			return
		}
		if !utf8.Valid(got) || len(got) > 3*len(body)+3 {
			t.Errorf("%d bytes out of %d: %q", len(got), len(body), got)
		}
	})
}

// What Node's TextDecoder makes of the same bytes.
func TestBrokenUTF8IsReadAsNodeReadsIt(t *testing.T) {
	for text, want := range map[string]string{
		"caf\xc3\xa9":                    "café",
		"\xff\xfe":                       "\uFFFD\uFFFD",
		"\xe2\x82x":                      "\uFFFDx",
		"\xe2\x82":                       "\uFFFD",
		"\xf0\x9f\x98\xe2\x82\xac":       "\uFFFD€",
		"\xed\xa0\x80":                   "\uFFFD\uFFFD\uFFFD",
		"\xef\xbb\xbfx\xc0\x80":          "\uFEFFx\uFFFD\uFFFD",
		"a\xf4\x90\x80\x80b":             "a\uFFFD\uFFFD\uFFFD\uFFFDb",
		strings.Repeat("\xf0\x9f", 9000): strings.Repeat("\uFFFD", 9000),
	} {
		if got := string(charset.ToValidUTF8([]byte(text))); got != want {
			t.Errorf("%.20q: got %.40q, want %.40q", text, got, want)
		}
	}
}

func TestPlainAnswersCostNothing(t *testing.T) {
	body := []byte("text")
	n := testing.AllocsPerRun(100, func() {
		charset.UTF8("application/json; charset=utf-8", body)
		charset.UTF8("application/json", body)
		charset.ToValidUTF8(body)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
