package recording_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/recording"
)

// recorded makes one call with one request and returns the line that is written for
// it, or why there is none.
func recorded(t *testing.T, o recording.Options, r *http.Request, args string, header http.Header, body []byte, secrets ...string) (line string, err error) {
	t.Helper()
	o.Write = func(c *recording.Call) error {
		text, err := json.Marshal(c)
		line = string(text)
		return err
	}
	o.Failed = func(why error) { err = why }
	rec, bad := recording.NewRecorder(o)
	if bad != nil {
		t.Fatal(bad)
	}
	for _, s := range secrets {
		rec.Secret(s)
	}
	ctx, capture := rec.Begin(t.Context(), "shop", "getBook", []byte(args))
	res, bad := rec.RoundTrip(r.WithContext(ctx), func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return &http.Response{StatusCode: 200, Header: header.Clone(), Body: io.NopCloser(bytes.NewReader(body)), ContentLength: -1}, nil
	})
	if bad != nil {
		t.Fatal(bad)
	}
	got, bad := io.ReadAll(res.Body)
	if bad != nil || !bytes.Equal(got, body) {
		t.Fatalf("the reader got %q, %v", got, bad)
	}
	_ = res.Body.Close()
	capture.End()
	return line, err
}

func request(t *testing.T, method, at, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const canary = "c4nary1000/of the shop&=\"1"

// written are ways in which somebody may write a secret.
func written(secret string) map[string]string {
	quoted, _ := json.Marshal(secret)
	inJSON := string(quoted[1 : len(quoted)-1])
	again, _ := json.Marshal(inJSON)
	var units strings.Builder
	for _, r := range secret {
		units.WriteString(`\u00` + hex.EncodeToString([]byte{byte(r)}))
	}
	return map[string]string{
		"plain": secret, "json": inJSON, "json with slashes": strings.ReplaceAll(inJSON, "/", `\/`), "json in json": string(again[1 : len(again)-1]), "json all escaped": units.String(),
		"query": url.QueryEscape(secret), "path": url.PathEscape(secret), "query twice": url.QueryEscape(url.QueryEscape(secret)), "html": html.EscapeString(secret),
		"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "base64 of URLs": base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"basic": base64.StdEncoding.EncodeToString([]byte("u:" + secret)), "basic of another user": base64.StdEncoding.EncodeToString([]byte("bob:" + secret)),
		"within base64": base64.StdEncoding.EncodeToString([]byte(`{"key":"` + secret + `","more":true}`)),
		"hex":           hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
}

// TestNoSecretIsRecorded has a secret in every encoding in every place of an
// exchange. It is replaced, or nothing is written.
func TestNoSecretIsRecorded(t *testing.T) {
	places := map[string]func(form string) (r *http.Request, args string, h http.Header, body []byte){
		"body": func(form string) (*http.Request, string, http.Header, []byte) {
			return request(t, "GET", "https://shop.example/books", ""), "{}", http.Header{}, []byte("it is " + form + ".")
		},
		"binary body": func(form string) (*http.Request, string, http.Header, []byte) {
			return request(t, "GET", "https://shop.example/books", ""), "{}", http.Header{}, []byte("\xff\x00" + form)
		},
		"gzip": func(form string) (*http.Request, string, http.Header, []byte) {
			var b bytes.Buffer
			w := gzip.NewWriter(&b)
			_, _ = w.Write([]byte("it is " + form))
			_ = w.Close()
			return request(t, "GET", "https://shop.example/books", ""), "{}", http.Header{}, b.Bytes()
		},
		"response header": func(form string) (*http.Request, string, http.Header, []byte) {
			return request(t, "GET", "https://shop.example/books", ""), "{}", http.Header{"Link": {"<https://shop.example/?next=" + form + ">"}}, nil
		},
		"request body": func(form string) (*http.Request, string, http.Header, []byte) {
			return request(t, "POST", "https://shop.example/books", "it is "+form), "{}", http.Header{}, nil
		},
		"query": func(form string) (*http.Request, string, http.Header, []byte) {
			return request(t, "GET", "https://shop.example/books?q="+url.QueryEscape(form), ""), "{}", http.Header{}, nil
		},
		"arguments": func(form string) (*http.Request, string, http.Header, []byte) {
			quoted, _ := json.Marshal(map[string]string{"q": form})
			return request(t, "GET", "https://shop.example/books", ""), string(quoted), http.Header{}, nil
		},
	}
	for place, at := range places {
		for name, form := range written(canary) {
			r, args, h, body := at(form)
			line, err := recorded(t, recording.Options{}, r, args, h, body, canary)
			if line == "" && !errors.Is(err, recording.ErrSecret) {
				t.Errorf("%s, %s: nothing is written, and not for its secret: %v", place, name, err)
			}
			if line != "" && place == "gzip" {
				t.Errorf("%s, %s: it is written as it came", place, name)
			}
			quoted, _ := json.Marshal(form)
			for _, what := range []string{form, string(quoted[1 : len(quoted)-1]), "c4nary", url.QueryEscape(form)} {
				if strings.Contains(line, what) {
					t.Errorf("%s, %s: the recording has %q: %s", place, name, what, line)
				}
			}
		}
	}
}

// TestCredentialsAreLearnt does not tell the recorder any secret: it sees them sent.
func TestCredentialsAreLearnt(t *testing.T) {
	for header, sent := range map[string][2]string{
		"Authorization":       {"Bearer t0ken-of-the-shop-77", "t0ken-of-the-shop-77"},
		"Proxy-Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("me:pa55word-of-mine")), "pa55word-of-mine"},
		"Cookie":              {"a=1; sid=s3ssion-of-the-shop", "s3ssion-of-the-shop"},
		"X-Session-Mode":      {"dark", "nowhere"}, // a word is no secret
		"X-Shop-Key":          {"k3y-of-the-shop-0001", "k3y-of-the-shop-0001"},
	} {
		r := request(t, "GET", "https://shop.example/books", "")
		r.Header.Set(header, sent[0])
		answer := http.Header{"Set-Cookie": {"sid=handed-out"}, "X-Auth-Token": {"handed-out"}, "Session-Id": {"handed-out"}, "Etag": {"kept"}}
		line, err := recorded(t, recording.Options{}, r, "{}", answer, []byte(`{"you sent":"`+strings.ReplaceAll(sent[1], "nowhere", "")+`","theme":"dark"}`))
		if err != nil || !strings.Contains(line, "dark") || !strings.Contains(line, `"Etag":"kept"`) || !strings.Contains(line, "you sent") {
			t.Errorf("%s: %q, %v", header, line, err)
		}
		for _, what := range []string{sent[1], "handed-out", header + ":"} {
			if strings.Contains(line, what) {
				t.Errorf("%s: the recording has %q: %s", header, what, line)
			}
		}
	}
}

// TestWhatUpstreamsHandOut has values that nobody knew before.
func TestWhatUpstreamsHandOut(t *testing.T) {
	for _, one := range []struct{ body, kept, gone string }{
		{`{"access_token":"minted-1","expires_in":60}`, `expires_in`, "minted-1"},
		{`{"user":{"password":"minted-2","name":"Ann"}}`, `Ann`, "minted-2"},
		{`{"pin":{"otp":123456}}`, `otp`, "123456"},
		{`{"token":"minted-3-and-long-enough","next_page_token":"page-2"}`, `page-2`, "minted-3"},
		{`{"token":"0x6b175474e89094c44da98b954eedeac495271d0f"}`, `0x6b175474`, "none"},
		{`{"url":"https://s3.example/a?X-Amz-Date=1&X-Amz-Signature=minted4&X-Amz-Expires=9"}`, `X-Amz-Expires=9`, "minted4"},
		{`{"url":"https://s3.example/a?X-Amz-Date=1\u0026X-Amz-Credential=minted5%2F2026\u0026z=9"}`, `z=9`, "minted5"},
		{`{"u":"https://x.example/?to=https%3A%2F%2Fs3.example%2F%3FX-Amz-Signature%3Dminted6%26z%3D9"}`, `z%3D9`, "minted6"},
		{`{"url":"https://blob.example/a?sv=1&sig=minted7%2Bab%3D&se=2"}`, `se=2`, "minted7"},
		{`<r><SessionToken>minted-8</SessionToken><a:SecretAccessKey>minted-9</a:SecretAccessKey><n>1</n></r>`, `\u003cn\u003e1`, "minted-"},
		{"data: {\"id_token\":\"minted-10\"}\n\ndata: {\"n\":1}\n\n", `\"n\":1`, "minted-10"},
		{`{"say":"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl and go"}`, `and go`, "eyJzdWIi"},
		{`{"say":"ghp_0123456789abcdefghij and go"}`, `and go`, "ghp_0123"},
	} {
		line, err := recorded(t, recording.Options{}, request(t, "GET", "https://shop.example/login?password=minted-0", "{\"password\":\"minted-0\"}"), `{"password":"minted-0"}`, http.Header{}, []byte(one.body))
		if err != nil || !strings.Contains(line, one.kept) || strings.Contains(line, one.gone) || strings.Contains(line, "minted-0") {
			t.Errorf("%s: %s, %v", one.body, line, err)
		}
	}
}

func TestRedactPointers(t *testing.T) {
	o := recording.Options{Redact: []string{"/email", "/users/*/email", "/a~1b"}}
	line, err := recorded(t, o, request(t, "POST", "https://shop.example/", `{"a/b":{"c":["me@mine.example",7]}}`), `{"email":"me@mine.example","n":1}`, http.Header{},
		[]byte(`{"users":[{"email":"me@mine.example","name":"Ann"}],"other":{"email":"kept"}}`))
	if err != nil || strings.Contains(line, "mine.example") || !strings.Contains(line, "Ann") || !strings.Contains(line, "kept") || !strings.Contains(line, `"n":1`) {
		t.Errorf("%s, %v", line, err)
	}
	if _, err := recording.NewRecorder(recording.Options{Redact: []string{"email"}}); err == nil {
		t.Error("a text without / passes for a pointer")
	}
}

// TestUnfinishedBodies has a body that is not read to its end.
func TestUnfinishedBodies(t *testing.T) {
	var calls []recording.Call
	rec, err := recording.NewRecorder(recording.Options{Write: func(c *recording.Call) error { calls = append(calls, *c); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, capture := rec.Begin(context.Background(), "shop", "listBooks", nil)
	res, err := rec.RoundTrip(request(t, "GET", "https://shop.example/", "").WithContext(ctx), func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("one two")), ContentLength: -1}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	capture.End()
	if len(calls) > 0 {
		t.Fatal("a call was written whose response is still read")
	}
	_, _ = io.ReadFull(res.Body, make([]byte, 3))
	_ = res.Body.Close()
	if len(calls) != 1 || !calls[0].Exchanges[0].Truncated || calls[0].Exchanges[0].Text != "one" {
		t.Fatalf("%+v", calls)
	}
	if text, err := answer(recording.NewPlayer(calls[0].Exchanges), request(t, "GET", "https://shop.example/", "")); text != "one" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLargeBodies: what is too large to be recorded reaches its reader all the same.
func TestLargeBodies(t *testing.T) {
	line, err := recorded(t, recording.Options{}, request(t, "GET", "https://shop.example/", ""), "{}", http.Header{}, bytes.Repeat([]byte("a"), 33<<20))
	if line != "" || err == nil || !strings.Contains(err.Error(), "a call of getBook is not recorded: its body is too large to be recorded") {
		t.Errorf("%d bytes, %v", len(line), err)
	}
}
