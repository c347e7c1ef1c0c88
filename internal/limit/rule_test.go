package limit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenon-mcp/tenon/auth"
	"github.com/tenon-mcp/tenon/internal/limit"
)

func TestParse(t *testing.T) {
	group, err := auth.ParseWho("group:students")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]limit.Rule{
		"group:students=rate 10/m burst 20 concurrent 2 day 500": {Who: group, Limits: limit.Limits{Rate: limit.Rate{Calls: 10, Per: time.Minute, Burst: 20}, Concurrent: 2, Day: 500}},
		"group:students = burst 20 rate 5/s":                     {Who: group, Limits: limit.Limits{Rate: limit.Rate{Calls: 5, Per: time.Second, Burst: 20}}},
		"everybody github/*=rate 100/h shared":                   {Tool: "github/*", Shared: true, Limits: limit.Limits{Rate: limit.Rate{Calls: 100, Per: time.Hour, Burst: 100}}},
		"everybody=bytes 16MiB sessions 5 tasks none":            {Limits: limit.Limits{Bytes: 16 << 20, Sessions: 5, Tasks: limit.Unlimited}},
		"everybody=bytes 4096":                                   {Limits: limit.Limits{Bytes: 4096}},
		"everybody a=none":                                       {Tool: "a", Limits: limit.Limits{Rate: limit.Rate{Calls: limit.Unlimited}, Day: limit.Unlimited, Concurrent: limit.Unlimited}},
	} {
		if r, err := limit.Parse(text); err != nil || r != want {
			t.Errorf("%s: %v\n%+v", text, err, r)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"everybody":                       "it wants WHO=LIMITS",
		"everybody=":                      "it wants WHO=LIMITS",
		"everybody=shared":                "it wants WHO=LIMITS",
		"rate 10/m":                       "it wants WHO=LIMITS",
		"bob=rate 10/m":                   `"bob" says not who`,
		"everybody a[=rate 10/m":          "no pattern for tools",
		"everybody=rate":                  `"rate": it wants`,
		"everybody=rate 10":               "such as 5/s, 10/m or 100/h",
		"everybody=rate 10/d":             "such as 5/s, 10/m or 100/h",
		"everybody=rate 0/m":              "a number from 1 to 1000000",
		"everybody=rate -1/m":             "a number from 1 to 1000000",
		"everybody=rate 1e3/m":            "a number from 1 to 1000000",
		"everybody=rate 10/m rate 20/m":   "rate is said twice",
		"everybody=burst 3":               "there is no rate",
		"everybody=rate none burst 3":     "rate none has no bound",
		"everybody=rate 10/m burst none":  "a number from 1 to",
		"everybody=day 5 rate 10/m":       "10 calls at once are more than the 5 of a day",
		"everybody=day 0":                 "a number from 1 to",
		"everybody=calls 3":               "none of rate, burst, day",
		"everybody=bytes 16MB":            "a size such as 16MiB",
		"everybody=bytes 99999999999GiB":  "a number from 1 to",
		"everybody a=bytes 16MiB":         "not of a tool",
		"everybody=sessions 2 shared":     "those of each caller",
		"everybody=rate 10/m shared then": `"then": it wants`,
	} {
		if r, err := limit.Parse(text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v %v", text, r, err)
		}
	}
}

// FuzzParse: what is read is written and read again as the same, and its times are
// times that can be counted in.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"everybody=rate 10/m burst 20 concurrent 2 day 500", "group:a b/*=rate 1/s shared", "key:x=none", "scope:=a=bytes 3KiB sessions 1 tasks 9",
		"subject:a=b=rate 1000000/h burst 1000000", "everybody=rate none day none",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := limit.Parse(text)
		if err != nil {
			return
		}
		again, err := limit.Parse(r.String())
		if err != nil || again != r {
			t.Fatalf("%q is %+v, written %q, which is %+v: %v", text, r, r.String(), again, err)
		}
		if r.Rate.Calls > 0 && (r.Rate.Per/time.Duration(r.Rate.Calls) <= 0 || r.Rate.Per/time.Duration(r.Rate.Calls)*time.Duration(r.Rate.Burst) <= 0) {
			t.Fatalf("%q has no time between two calls", text)
		}
		if min(r.Day, r.Concurrent, r.Bytes, r.Sessions, r.Tasks) < limit.Unlimited {
			t.Fatalf("%q limits to less than nothing: %+v", text, r)
		}
	})
}
