//go:build amd64 || arm64

package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFastMapIsTheEngines runs code in an engine with the fast path and in one
// without.
func TestFastMapIsTheEngines(t *testing.T) {
	own, fast := newHarness(t), newHarness(t)
	if !fast.EnableFastMap() {
		t.Fatal("the engine's map has no fast path")
	}
	for name, code := range map[string]string{
		"map":                                     `[1, 'a', null, {x: 1}].map((v, i, all) => [v, i, all.length])`,
		"a list of none":                          `[[].map((v) => v), [].filter((v) => v), [].some(() => true), [].every(() => false), [].forEach(() => 1)]`,
		"this":                                    `[1, 2].map(function (v) { return this.n + v }, {n: 10})`,
		"this of a loose function":                `[1].map(function () { return typeof this })`,
		"a function of the engine":                `['1', '2', '3'].map(Number).concat(['1', '2', '3'].map(parseInt)).concat([0, 1].filter(Boolean))`,
		"a list with holes":                       `[1, , 3].map((v) => v).length + ' ' + Object.keys([1, , 3].map((v) => v))`,
		"a list longer than what it holds":        `(() => { const l = [1, 2]; l.length = 4; const m = l.map((v) => v); return [m.length, Object.keys(m)] })()`,
		"a list that grows":                       `(() => { const l = [1, 2]; return [l.map((v) => { l.push(v); return v }), l] })()`,
		"a list that loses its end":               `(() => { const l = [1, 2, 3, 4], m = l.map((v) => { l.length = 2; return v }); return [m.length, Object.keys(m), m] })()`,
		"a list that loses its middle":            `(() => { const l = [1, 2, 3, 4], m = l.map((v, i) => { if (i === 0) delete l[1]; return v }); return [m.length, Object.keys(m), m] })()`,
		"a list that is emptied and filled":       `(() => { const l = [1, 2, 3, 4], m = l.map((v, i) => { if (i === 0) { l.length = 0; l[3] = 9 } return v }); return [m.length, Object.keys(m), m] })()`,
		"a filter of one that is emptied":         `(() => { const l = [1, 2, 3]; return l.filter((v) => { l.length = 0; return true }) })()`,
		"a list whose element is changed":         `(() => { const l = [{a: 1}, {a: 2}, {a: 3}]; return l.filter((v, i) => { l[i] = null; l[i + 1] = {a: 7}; return v.a }) })()`,
		"a list that gets a getter":               `(() => { const l = [1, 2, 3]; return l.map((v, i) => { if (i === 0) Object.defineProperty(l, 1, {get: () => 'got'}); return v }) })()`,
		"a list that gets a getter that throws":   `(() => { const l = [1, 2, 3]; try { return l.map((v) => { Object.defineProperty(l, 1, {get() { throw new Error('no') }}); return v }) } catch (e) { return e.message } })()`,
		"a list that gets another parent":         `(() => { const l = [1, 2, 3]; return l.map((v) => { l.length = 1; Object.setPrototypeOf(l, {1: 'from above'}); return v }).length })()`,
		"a frozen list":                           `Object.freeze([1, 2]).map((v) => v + 1)`,
		"a list of another class":                 `(() => { class L extends Array {} const m = L.from([1, 2]).map((v) => v); return [m instanceof L, m] })()`,
		"a list with a constructor":               `(() => { const l = [1, 2]; l.constructor = {[Symbol.species]: function (n) { this.n = n }}; return JSON.stringify(l.map((v) => v)) })()`,
		"what is no list":                         `[Array.prototype.map.call('ab', (c) => c + c), Array.prototype.filter.call({length: 2, 0: 'x', 1: 'y'}, () => true), Array.prototype.some.call(new Uint8Array([1]), (v) => v)]`,
		"no function":                             `[() => [1].map(), () => [1].map(1), () => [].map(1), () => [1].filter(null), () => Array.prototype.map.call(null, (x) => x)].map((f) => { try { return f() } catch (e) { return e.name + e.message } })`,
		"a function that throws":                  `(() => { const seen = []; try { [1, 2, 3].map((v) => { seen.push(v); if (v === 2) throw new Error('at ' + v); return v }) } catch (e) { return [seen, e.message] } })()`,
		"what the function does to its arguments": `[1, 2].map(function (v, i, all) { v = 'x'; i = {}; all = [v]; arguments[0] = 'y'; return [v, all] })`,
		"many objects of one form":                "Array.from({length: 100}, (_, i) => i).map((i) => ({id: `x${i}`, n: i, 7: 'seven', of: {i}, get g() { return i }, [`k${i}`]: i}))",
		"many objects of many members":            `Array.from({length: 50}, (_, i) => i).map((i) => Object.fromEntries(Array.from({length: i % 20}, (_, k) => ['m' + k, i])))`,
		"many that are no plain objects":          `[[], null, 'x', new Date(0), () => 1, Object.create({a: 1}), new Proxy({a: 1}, {}), Object.freeze({a: 1, b: 2})].map((first) => Array.from({length: 40}, (_, i) => i).map((i) => i ? {a: i, b: i} : first).slice(0, 3))`,
		"one in another without end":              `(() => { let n = 0; const f = () => { n++; return [1].map(f) }; try { f() } catch (e) { return [e.name, e.message, n > 200] } })()`,
		"one in another":                          `[[1, 2], [3]].map((l) => l.map((v) => [v].filter((x) => x > 1)))`,
		"the names of the functions":              `[[].map.name, [].map.length, String([].map), ''.concat.name, ''.concat.length]`,
	} {
		t.Run(name, func(t *testing.T) {
			want, err := own.JSON(code)
			got, err2 := fast.JSON(code)
			if err != nil || err2 != nil || got != want || got == "" {
				t.Errorf("%v %v\n got %s\nwant %s", err, err2, got, want)
			}
		})
	}
}

// With 2 MB of memory, leaks of thousands of calls, complete and aborted ones,
// exhaust the engine.
func TestFastMapLeavesNothing(t *testing.T) {
	e := newHarness(t)
	_ = e.EnableFastMap()
	e.Limit(2 << 20)
	rounds := 200
	if raced { // which makes the engine twenty times slower
		rounds = 1
	}
	for range rounds {
		const code = "(() => { const l = Array.from({length: 500}, (_, i) => ({id: 'a text of its own ' + i})); let n = 0; " +
			"for (const stop of [100, 400, 1000]) { try { l.map((o, i) => { if (i === stop) throw 1; return `${o.id}-${i}` }) } catch { n++ } } " +
			"const short = l.slice(); short.map((o, i) => { short.length = 200; return { o, i } }); return n })()"
		if got, err := e.JSON(code); err != nil || got != "2" {
			t.Fatal(got, err)
		}
	}
	got, err := e.JSON(`(() => { try { return Array.from({length: 3000}, (_, i) => i).map((i) => 'x'.repeat(1000) + i).length } catch (e) { return 'no memory' } })()`)
	if err != nil || got != `"no memory"` {
		t.Errorf("more than the engine may hold: %s, %v", got, err)
	}
	if got, err := e.JSON("[1, 2].map((v) => `${v}`)"); err != nil || got != `["1","2"]` {
		t.Errorf("after that: %s, %v", got, err)
	}
}

// TestFastMapOnListsThatChange modifies a list in every way while a function
// iterates over it.
func TestFastMapOnListsThatChange(t *testing.T) {
	own, fast := newHarness(t), newHarness(t)
	_ = fast.EnableFastMap()
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.IntRange(0, 6)
		var changes strings.Builder
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			change := rapid.SampledFrom([]string{
				"l.push(%d)", "l.pop() || %d", "l.length = %d", "delete l[%d]", "l.splice(%d, 2)", "l.unshift({}, %d)", "l[%d] = [v]", "l[%d + 5] = 'far'", "l.reverse()[%d]", "l.sort()[%d]", "Object.freeze(l)[%d]", "l.extra = %d",
				"Object.defineProperty(l, %d, {get: () => 'got', configurable: true})", "Object.setPrototypeOf(l, {__proto__: Array.prototype, %d: 'above'})", "again(l, %d)",
			}).Draw(t, "change")
			fmt.Fprintf(&changes, "if (i === %d) { "+change+" }\n", at.Draw(t, "when"), at.Draw(t, "where"))
		}
		code := fmt.Sprintf(`(() => {
			const l = Array.from({length: %d}, (_, i) => i %% 3 ? i : {i}), seen = []
			const again = (l, n) => { seen.push(l.map((v) => typeof v + n)) }
			let r
			try { r = l.map((v, i, all) => { %s; seen.push(v, all === l); return %s }) } catch (e) { r = e.message }
			return [typeof r, r?.length, r && Object.keys(r), r, seen, l]
		})()`, at.Draw(t, "length"), changes.String(),
			rapid.SampledFrom([]string{"v", "i % 2", "true", "false", "i < 3", "[v, i]"}).Draw(t, "result"))
		want, err := own.JSON(code)
		got, err2 := fast.JSON(code)
		if err != nil || err2 != nil || got != want {
			t.Fatalf("%s\n%v %v\n got %s\nwant %s", code, err, err2, got, want)
		}
	})
}
