//go:build amd64 || arm64

package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-mcp/tenon/internal/sandbox/engine"
)

func newHarness(t testing.TB) *engine.Harness {
	t.Helper()
	e, known := engine.NewHarness()
	t.Cleanup(func() { _ = e.Close() })
	if !known {
		t.Fatal("the library of the engine has changed: what the host reads and writes must be written again")
	}
	return e
}

// coin covers the values of typical responses: strings, numbers, missing
// members and nesting.
const coin = `{"id":"btc","name":"Bit\u00e9coin \ud83d\ude00","price":0.991,"cap":1000000,"big":12345678901,"roi":null,"up":true,"tags":["a","b"],"of":{"x":1,"y":-2}}`

func readings() map[string]string {
	return map[string]string{
		"words and numbers":                       `[true,false,null,0,-0,1,-1,2147483647,2147483648,-2147483649,1.5,1e3,1E-7,0.1e+2,1e400,-1e400,5e-324,1e21,123456789012345678901234567890]`,
		"nothing":                                 `[{},[],"",[[]],[{}]]`,
		"white space":                             " \n\t{ \"a\" : [ 1 , 2 ] \r\n, \"b\" : { } } ",
		"escapes":                                 `["\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00","a\u0000b","\u001f"]`,
		"half a surrogate pair":                   `["\ud800","x\udc00y","\ud800\ud800\udc00","\ude00\ud83d"]`,
		"texts that are not ASCII":                `["é","€","😀","aé€😀b"]`,
		"escaped names":                           `{"\u0061":1,"a\"b":2,"\ud83d\ude00":3,"é":4}`,
		"a name twice":                            `[{"a":1,"b":2,"a":3},{"a":1,"b":2,"a":3},{"a":1,"b":2}]`,
		"names that are numbers":                  `[{"b":1,"2":2,"1":3},{"b":1,"2":2,"1":3},{"4294967294":1,"4294967295":2,"a":3,"0":4},{"-1":1,"01":2}]`,
		"names of Object.prototype":               `[{"__proto__":1,"constructor":2,"toString":3},{"__proto__":{"a":1},"constructor":2,"toString":3}]`,
		"objects of one form":                     "[" + coin + strings.Repeat(","+coin, 20) + "]",
		"forms that take turns":                   `[{"a":1,"b":2},{"b":1,"a":2},{"a":1},{"a":1,"b":2,"c":3},{"a":[{"a":1,"b":2}],"b":{"a":3,"b":4}},{"a":1,"b":2}]`,
		"an object of a hundred members":          "{" + strings.Join(numbered(100), ",") + "}",
		"a list of a hundred such":                "[" + strings.TrimSuffix(strings.Repeat("{"+strings.Join(numbered(40), ",")+"},", 100), ",") + "]",
		"as deep as is read":                      strings.Repeat("[", 499) + strings.Repeat("]", 499),
		"a single text":                           `"x"`,
		"a text as long as eight-byte words need": `["12345678","1234567","123456789","1234567é","12345678\n"]`,
		"texts of every length":                   "[" + strings.Join(lengths(), ",") + "]",
		"forms that go on in many ways":           "[" + strings.Join(ways(), ",") + "," + strings.Join(ways(), ",") + "]",
		"a text that comes again":                 `[{"a":"x","b":"x"},{"a":"x","b":"xy"},{"a":"xy","b":"x"},{"a":"é\n","b":""},{"a":"é\n","b":""},{"a":"x\"","b":1},{"a":"x\"","b":"x"}]`,
	}
}

// lengths are strings with one unusual character at every position of several
// words.
func lengths() []string {
	var all []string
	for n := range 70 {
		for _, odd := range []string{``, `\n`, `é`, `\\`, `\"x`} {
			all = append(all, `"`+strings.Repeat("x", n)+odd+strings.Repeat("y", n%9)+`"`)
		}
	}
	return all
}

// ways are objects with a common prefix and more continuations than are cached.
func ways() []string {
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf(`{"a":1,"k%d":"v","z":{"k%d":[{"a":"v"}]}}`, i, i), fmt.Sprintf(`{"k%d":{"a":1,"b":"%d"}}`, i, i))
	}
	return all
}

func numbered(n int) []string {
	var all []string
	for i := range n {
		all = append(all, `"m`+strings.Repeat("x", i)+`":`+strings.Repeat("1", 1+i%12))
	}
	return all
}

func TestHostReadsJSONAsTheEngineDoes(t *testing.T) {
	e := newHarness(t)
	for name, text := range readings() {
		t.Run(name, func(t *testing.T) {
			host, want, taken, err := e.Read([]byte(text))
			if err != nil || !taken || host != want {
				t.Errorf("taken: %t, %v\n got %s\nwant %s", taken, err, host, want)
			}
		})
	}
}

func TestHostLeavesWhatIsNoJSONToTheEngine(t *testing.T) {
	e := newHarness(t)
	for _, text := range []string{
		``, ` `, `[`, `]`, `{`, `[1`, `[1,`, `[1,]`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a" 1}`, `{"a":1;"b":2}`, `[1 2]`, `[1;2]`, `1 2`, `nul`, `tru`, `falsy`, `undefined`, `NaN`,
		`01`, `-`, `-01`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x10`, `--1`, `"`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u+123"`, `'a'`, "\"a\nb\"", "\"\\\x01\"", "\"\x80\"", "[\"\\n\x80\"]", "[\"\x80\\n\"]", "{\"\x80\":1}",
		strings.Repeat("[", 501) + strings.Repeat("]", 501), strings.Repeat(`{"a":`, 600),
	} {
		if host, _, taken, _ := e.Read([]byte(text)); taken {
			t.Errorf("%.60q is taken as %s", text, host)
		}
	}
}

func TestHostWritesJSONAsTheEngineDoes(t *testing.T) {
	e := newHarness(t)
	for name, expression := range map[string]string{
		"numbers":                     `[0, -0, 1, -1, 2**31, 0.1, 1e21, 1e20, 123456789012345680000, 1e-6, 1e-7, 1.5e-10, 5e-324, 1.7976931348623157e308, 1e100, NaN, Infinity, -Infinity]`,
		"words":                       `[true, false, null, undefined]`,
		"nothing at all":              `undefined ?? null`,
		"texts":                       `["", "a", "é€😀", "\ud7ff\ue000", "\"\\/\b\f\n\r\t\u0000\u001f\u007f\u2028", "\xed\xa0"]`,
		"a rope":                      `Array.from({length: 200}, (_, i) => 'part of a text ' + i).reduce((a, b) => a + b)`,
		"members without a value":     `({a: undefined, b: 1, c: undefined})`,
		"names that are numbers":      `({b: 1, 2: 2, 1: 3, '01': 4})`,
		"names that need escapes":     `({'"': 1, 'é': 2, '\n': 3, '': 4})`,
		"members that are not listed": `Object.defineProperty({a: 1, [Symbol('s')]: 2, c: 4}, 'b', {value: 3})`,
		"a member that was deleted":   `(() => { const o = {a: 1, b: 2, c: 3}; delete o.b; o.d = 4; return [o, {a: 1, b: 2, c: 3}] })()`,
		"objects of one form":         `Array.from({length: 50}, (_, i) => ({id: 'x' + i, n: i, of: {y: i / 3}}))`,
		"an object without prototype": `Object.assign(Object.create(null), {a: 1})`,
		"what was frozen":             `Object.freeze({a: 1, b: 'c'})`,
		"a list with a member":        `[1, 2, 3].concat([4]).slice(1)`,
		"the same object twice":       `(() => { const o = {a: [1]}; return [o, o, {o}] })()`,
		"an object that was a record": `(() => { const o = {}; for (let i = 0; i < 300; i++) o['k' + i] = i; for (let i = 0; i < 300; i += 2) delete o['k' + i]; return o })()`,
	} {
		t.Run(name, func(t *testing.T) {
			host, want, taken, err := e.Write(expression)
			if err != nil || !taken || host != want {
				t.Errorf("taken: %t, %v\n got %s\nwant %s", taken, err, host, want)
			}
		})
	}
}

// Values that could run code, or have formats of their own, are left to the
// engine.
func TestHostLeavesWhatIsNotPlainToTheEngine(t *testing.T) {
	e := newHarness(t)
	for _, expression := range []string{
		`{get a() { return 1 }}`, `{toJSON() { return 1 }}`, `{toJSON: 1}`, `Object.defineProperty({a: 1}, 'toJSON', {value: () => 2})`, `new (class { a = 1 })`, `new Date(0)`, `new Map([[1, 2]])`, `new Proxy({a: 1}, {})`, `new Proxy([1], {})`, `Object.create({a: 1})`,
		`[1, , 3]`, `Object.freeze([1])`, `Object.assign([1], {toJSON: () => 2})`, `new (class extends Array {})(3)`, `Object.defineProperty([1], 0, {get: () => 2})`, `new Array(2 ** 32 - 1)`, `1n`, `Symbol('s')`,
		`() => 1`, `[() => 1]`, `{a() {}}`, `new Number(1)`, `new String('x')`, `/x/`, `new Uint8Array(2)`, `'\ud800'`, `{'\udfff': 1}`, `['a\ud800b']`, `(() => { const o = {}; o.o = o; return o })()`,
		`JSON.parse('['.repeat(600) + ']'.repeat(600))`, `globalThis`, `(function () { return arguments })(1)`,
	} {
		if host, _, taken, err := e.Write(expression); taken || err != nil {
			t.Errorf("%s: taken %t, %v: %s", expression, taken, err, host)
		}
	}
}

// With 2 MB of memory, leaks of thousands of reads, complete and aborted ones,
// exhaust the engine.
func TestHostReadingLeavesNothing(t *testing.T) {
	e := newHarness(t)
	text := "[" + coin + strings.Repeat(","+coin, 20) + `,{"a":"x","b":[1,"y"],"a":{"z":"zz"}}]`
	e.Limit(2 << 20)
	step := 3
	if raced { // which makes the engine twenty times slower
		step = 99
	}
	for range 3 {
		for n := 0; n < len(text); n += step {
			if _, _, taken, _ := e.Read([]byte(text[:n])); taken {
				t.Fatalf("a part of the text is taken: %s", text[:n])
			}
		}
		host, want, taken, err := e.Read([]byte(text))
		if err != nil || !taken || host != want {
			t.Fatalf("taken: %t, %v\n got %s\nwant %s", taken, err, host, want)
		}
	}
	large := "[" + coin + strings.Repeat(","+coin, 10_000) + "]"
	if _, _, taken, err := e.Read([]byte(large)); taken || err == nil {
		t.Errorf("more than the engine may hold: taken %t, %v", taken, err)
	}
	if _, _, taken, err := e.Read([]byte(text)); !taken || err != nil {
		t.Errorf("after that: taken %t, %v", taken, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range readings() {
		f.Add([]byte(text))
	}
	e := newHarness(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		host, want, taken, err := e.Read(text)
		if taken && (err != nil || host != want) {
			t.Errorf("%q: %v\n got %s\nwant %s", text, err, host, want)
		}
		if !taken {
			return
		}
		if host, want, taken, err := e.Write(`JSON.parse(` + quoted(text) + `)`); taken && (err != nil || host != want) {
			t.Errorf("%q: %v\n wrote %s\n want %s", text, err, host, want)
		}
	})
}

// quoted returns JSON as a JavaScript literal.
func quoted(text []byte) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`", "$", "\\$", "\r", "\\r").Replace(string(text)) + "`"
}
