package main

import (
	"fmt"
	"strconv"
	"strings"
)

// want says what has to become of an answer under every policy.
type want int

const (
	fits       want = iota // it keeps its schema
	breaks                 // it is JSON of another form than its schema says
	broken                 // it is no strict JSON
	undeclared             // its status or media type is not in the description
	fails                  // it is an error of the upstream
)

// answer is what one tool of the suite gets from its upstream.
type answer struct {
	name   string
	schema string // of a success in application/json; empty: any JSON
	status int    // 0: 200
	media  string // empty: application/json
	body   string
	want   want
	code   string // of an error
	// ours are answers that other makers' clients are not given: their own
	// validators or parsers would take too long.
	ours bool
}

const (
	object   = `{"type":"object","properties":{"v":{"type":"number"}},"required":["v"]}`
	integer  = `{"type":"object","properties":{"v":{"type":"integer"}},"required":["v"]}`
	sentence = `{"type":"object","properties":{"v":{"type":"string"}},"required":["v"]}`
	list     = `{"type":"array","items":{"type":"integer"}}`
)

// answers is the table of the suite. A tool has the name of its case.
func answers() []answer {
	all := numbers()
	all = append(all, texts()...)
	all = append(all, roots()...)
	all = append(all, notStrict()...)
	all = append(all, violating()...)
	all = append(all, failures()...)
	return append(all, large()...)
}

func numbers() (all []answer) {
	for name, v := range map[string]string{
		"2_53_minus_1": "9007199254740991", "2_53": "9007199254740992", "2_53_plus_1": "9007199254740993",
		"2_63_minus_1": "9223372036854775807", "minus_2_63": "-9223372036854775808", "2_64_minus_1": "18446744073709551615",
		"forty_digits": "1234567890123456789012345678901234567890", "one_point_zero": "1.0", "minus_zero": "-0",
		"one_e_two": "1e2", "one_E_plus_2": "1E+2",
	} {
		all = append(all, answer{name: "integer_" + name, schema: integer, body: `{"v":` + v + `}`})
	}
	for name, v := range map[string]string{
		"tenth": "0.1", "many_digits": "3.14159265358979323846264338327950288", "tiny": "5e-324", "minus_zero_fraction": "-0.0",
		"largest_double": "1.7976931348623157e308", "below_every_double": "1e-400",
	} {
		all = append(all, answer{name: "number_" + name, schema: object, body: `{"v":` + v + `}`})
	}
	return append(all,
		answer{name: "number_beyond_doubles", schema: object, body: `{"v":1e400}`, want: broken},
		answer{name: "integer_with_a_fraction", schema: integer, body: `{"v":1.5}`, want: breaks},
		answer{name: "order_of_keys", schema: `{"type":"object"}`, body: `{"zebra":1,"apple":{"y":1,"b":[{"q":1,"a":2}]},"10":1,"9":2,"":3}`},
		answer{name: "white_space", schema: `{"type":"object"}`, body: "{ \"b\" : [ 1 ,2 ],\t\"a\" : null }"},
	)
}

func texts() (all []answer) {
	for name, v := range map[string]string{
		"html": `<b>&amp;</b> & 'x'`, "line_separators": "a\u2028b\u2029c", "null_character": `a\u0000b`, "escapes": `\u0041\/\b\f\n\r\t\"\\`,
		"pair_of_surrogates": `\ud83d\ude00`, "beyond_the_plane": "😀𝄞", "empty": ``, "not_composed": "e\u0301", "delete": "\x7f", "byte_order_mark_inside": "\ufeff",
	} {
		all = append(all, answer{name: "text_" + name, schema: sentence, body: `{"v":"` + v + `"}`})
	}
	return all
}

func roots() []answer {
	return []answer{
		{name: "root_list", schema: list, body: `[1,9007199254740993]`},
		{name: "root_empty_list", schema: list, body: `[]`},
		{name: "root_empty_map", schema: `{"type":"object","additionalProperties":{"type":"integer"}}`, body: `{}`},
		{name: "root_string", schema: `{"type":"string"}`, body: `"a\u0000<b>"`},
		{name: "root_number", schema: `{"type":"number"}`, body: `1.0`},
		{name: "root_true", schema: `{"type":"boolean"}`, body: `true`},
		{name: "root_null", schema: `{"type":"null"}`, body: `null`},
		{name: "root_of_two_types", schema: `{"type":["array","null"],"items":{}}`, body: `null`},
		{name: "root_one_of", schema: `{"oneOf":[{"type":"integer"},{"type":"object","required":["a"]}]}`, body: `{"a":[null,{},[]]}`},
		{name: "root_without_a_schema", body: `[{"a":null}]`},
		{name: "member_null", schema: `{"type":"object","properties":{"v":{"type":["string","null"]}},"required":["v"]}`, body: `{"v":null}`},
		{name: "plain_text", media: "text/plain", body: "so <be> it\n"},
		{name: "no_content", status: 204},
	}
}

func notStrict() (all []answer) {
	for name, body := range map[string]string{
		"high_surrogate_alone": `{"v":"\ud800"}`, "low_surrogate_alone": `{"v":"\udc00x"}`, "surrogates_the_wrong_way": `{"v":"\ude00\ud83d"}`,
		"bytes_that_are_no_utf8": "{\"v\":\"a\xffb\"}", "overlong_utf8": "{\"v\":\"\xc0\xaf\"}", "surrogate_in_utf8": "{\"v\":\"\xed\xa0\x80\"}",
		"a_member_twice": `{"v":"a","v":"b"}`, "a_member_twice_once_escaped": `{"v":"a","\u0076":"b"}`,
		"half_an_object": `{"v":"a"`, "more_than_one_value": `{"v":"a"} {}`, "single_quotes": `{'v':'a'}`, "not_a_number": `{"v":NaN}`,
		"a_comment": `{"v":"a"/**/}`, "a_trailing_comma": `{"v":"a",}`, "a_control_character": "{\"v\":\"a\x01\"}", "a_leading_zero": `{"v":01}`,
		"no_json_at_all": `<html></html>`, "nested_too_deep": strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
	} {
		all = append(all, answer{name: name, schema: sentence, body: body, want: broken})
	}
	return all
}

func violating() []answer {
	return []answer{
		{name: "a_member_is_missing", schema: sentence, body: `{"w":9007199254740993}`, want: breaks},
		{name: "a_member_of_another_type", schema: sentence, body: `{"v":9007199254740993}`, want: breaks},
		{name: "a_list_for_an_object", schema: sentence, body: `[9007199254740993]`, want: breaks},
		{name: "an_object_for_a_list", schema: list, body: `{"b":1,"a":2}`, want: breaks},
		{name: "null_for_an_object", schema: sentence, body: `null`, want: breaks},
		{name: "a_string_for_an_object", schema: sentence, body: `"x"`, want: breaks},
		{name: "no_body", schema: sentence, want: undeclared},
		{name: "another_media_type", schema: sentence, media: "text/html", body: `<p>`, want: undeclared},
	}
}

func failures() (all []answer) {
	for status, code := range map[int]string{
		400: "validation_error", 401: "authentication_error", 403: "authorization_error", 404: "not_found", 409: "conflict", 410: "not_found",
		412: "conflict", 418: "request_error", 422: "validation_error", 429: "rate_limited", 500: "server_error", 503: "server_error", 504: "timeout",
	} {
		all = append(all, answer{name: "status_" + strconv.Itoa(status), schema: sentence, status: status, body: `{"detail":"said so"}`, want: fails, code: code})
	}
	return append(all,
		answer{name: "an_error_that_is_no_json", schema: sentence, status: 502, media: "text/html", body: "<h1>\xff</h1>", want: fails, code: "server_error"},
		answer{name: "the_connection_breaks", schema: sentence, status: cut, want: fails, code: "network_error"},
	)
}

// large are the answers and schemas that cost a careless reader dear.
func large() []answer {
	return []answer{
		{name: "ten_megabytes_of_rows", schema: `{"type":"array","items":{"type":"object","required":["id"]}}`, body: rows(10 << 20), ours: true},
		{name: "ten_megabytes_of_text", schema: sentence, body: `{"v":"` + strings.Repeat(`<&\n`, 10<<18) + `"}`, ours: true},
		{name: "as_deep_as_is_read", schema: `{}`, body: strings.Repeat("[", 900) + strings.Repeat("]", 900), ours: true},
		{name: "bomb_of_references", schema: `{"$ref":"#/components/schemas/b0"}`, body: `{"x":1}`, ours: true},
		{name: "bomb_of_alternatives", schema: `{"$ref":"#/components/schemas/a0"}`, body: `{"x":1}`, want: breaks, ours: true},
		{name: "bomb_of_itself", schema: `{"$ref":"#/components/schemas/tree"}`, body: `{"children":[{"children":[{}]}]}`},
		{name: "bomb_of_a_pattern", schema: `{"type":"object","properties":{"v":{"type":"string","pattern":"^(a+)+$"}}}`, body: `{"v":"` + strings.Repeat("a", 5000) + `!"}`, want: breaks, ours: true},
	}
}

// rows is a list of at least that many bytes.
func rows(bytes int) string {
	var b strings.Builder
	b.WriteString("[")
	for i := 0; b.Len() < bytes; i++ {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"row <%d>","at":[1.0,%d]}`, 9007199254740993+i, i, i)
	}
	return b.String() + "]"
}

// bombs are the schemas to which the table refers: two references at every
// level double what a naive reader visits.
func bombs() string {
	const levels = 24
	var b strings.Builder
	for i := range levels {
		fmt.Fprintf(&b, `"b%d":{"allOf":[{"$ref":"#/components/schemas/b%d"},{"$ref":"#/components/schemas/b%d"}]},`, i, i+1, i+1)
		fmt.Fprintf(&b, `"a%d":{"anyOf":[{"$ref":"#/components/schemas/a%d"},{"$ref":"#/components/schemas/a%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"b%d":{"type":"object"},"a%d":{"type":"object","required":["y"]},`, levels, levels)
	b.WriteString(`"tree":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/components/schemas/tree"}}}}`)
	return b.String()
}
