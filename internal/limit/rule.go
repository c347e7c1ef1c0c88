package limit

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/auth"
)

// Rule is a limit of the operator: who may have how much of what.
type Rule struct {
	Who auth.Who
	// Tool is a pattern for tools, with the wildcards of path.Match; empty: everything.
	Tool string
	// Shared: all whom the rule is about have it together, and not each of them.
	Shared bool

	Limits
}

// Limits are what one caller may have. 0: nothing is said about it; Unlimited: there
// is no limit.
type Limits struct {
	Rate       Rate
	Day        int64 // calls from midnight to midnight, UTC
	Concurrent int64 // calls at a time
	Bytes      int64 // of messages and answers at a time, as the server counts them
	Sessions   int64 // at a time, of clients before 2026-07-28
	Tasks      int64 // calls at a time that became tasks
}

// Unlimited is a limit that limits nothing.
const Unlimited = -1

// Rate is Calls in the time Per, of which Burst can come at once.
type Rate struct {
	Calls int64
	Per   time.Duration
	Burst int64
}

// interval is the time between two calls at the rate.
func (r Rate) interval() time.Duration { return r.Per / time.Duration(r.Calls) }

// The bounds of a rate keep its times within what a time.Duration can be.
const (
	maxRate  = 1_000_000
	maxCount = 1 << 40
)

var errForm = errors.New("it wants WHO=LIMITS or 'WHO TOOL=LIMITS', with LIMITS such as 'rate 10/m burst 20 concurrent 2 day 500'")

// Parse reads WHO[ TOOL]=LIMITS.
func Parse(text string) (Rule, error) {
	i := strings.LastIndexByte(text, '=')
	if i < 0 {
		return Rule{}, errForm
	}
	r := Rule{}
	who := strings.TrimSpace(text[:i])
	if at := strings.LastIndexByte(who, ' '); at >= 0 {
		who, r.Tool = strings.TrimSpace(who[:at]), who[at+1:]
	}
	var err error
	if r.Who, err = auth.ParseWho(who); err != nil {
		return Rule{}, err
	}
	if _, err := path.Match(r.Tool, ""); err != nil {
		return Rule{}, fmt.Errorf("%q is no pattern for tools: use names with * and ?, or SOURCE/TOOL", r.Tool)
	}
	if err := r.parseLimits(strings.Fields(text[i+1:])); err != nil {
		return Rule{}, err
	}
	return r, r.check()
}

// parseLimits reads the words behind WHO.
func (r *Rule) parseLimits(words []string) error {
	if len(words) == 1 && words[0] == none {
		r.unlimited()
		return nil
	}
	said := map[string]bool{}
	for len(words) > 0 {
		word := words[0]
		if said[word] {
			return fmt.Errorf("%s is said twice", word)
		}
		said[word] = true
		if word == "shared" {
			r.Shared, words = true, words[1:]
			continue
		}
		if len(words) == 1 {
			return fmt.Errorf("%q: %w", word, errForm)
		}
		if err := r.parseLimit(word, words[1]); err != nil {
			return err
		}
		words = words[2:]
	}
	if r.Limits == (Limits{}) {
		return errForm
	}
	if said["burst"] && !said["rate"] {
		return errors.New("burst says how many calls of a rate can come at once; there is no rate")
	}
	if said["burst"] && r.Rate.Calls == Unlimited {
		return errors.New("burst says how many calls of a rate can come at once; rate none has no bound")
	}
	if r.Rate.Calls > 0 && r.Rate.Burst == 0 {
		r.Rate.Burst = r.Rate.Calls
	}
	return nil
}

// unlimited takes the limits away that rules about more callers may set.
func (r *Rule) unlimited() {
	r.Rate.Calls, r.Day, r.Concurrent = Unlimited, Unlimited, Unlimited
	if r.Tool == "" {
		r.Bytes, r.Sessions, r.Tasks = Unlimited, Unlimited, Unlimited
	}
}

// parseLimit reads one limit.
func (r *Rule) parseLimit(name, value string) (err error) {
	switch name {
	case "rate":
		burst := r.Rate.Burst
		r.Rate, err = parseRate(value)
		r.Rate.Burst = burst
	case "burst":
		r.Rate.Burst, err = parseCount(value, maxRate)
	case "day":
		r.Day, err = parseLimited(value)
	case "concurrent":
		r.Concurrent, err = parseLimited(value)
	case "bytes":
		r.Bytes, err = parseBytes(value)
	case "sessions":
		r.Sessions, err = parseLimited(value)
	case "tasks":
		r.Tasks, err = parseLimited(value)
	default:
		return fmt.Errorf("%q is none of rate, burst, day, concurrent, bytes, sessions, tasks, shared", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// check refuses what a rule cannot have, and what contradicts itself.
func (r *Rule) check() error {
	whole := r.Bytes != 0 || r.Sessions != 0 || r.Tasks != 0
	switch {
	case whole && r.Tool != "":
		return errors.New("bytes, sessions and tasks are those of a caller, not of a tool")
	case whole && r.Shared:
		return errors.New("bytes, sessions and tasks are those of each caller; the server has bounds for all together")
	case r.Day > 0 && r.Rate.Burst > r.Day:
		return fmt.Errorf("%d calls at once are more than the %d of a day", r.Rate.Burst, r.Day)
	}
	return nil
}

// Repeats is the error of a rule that says again, and perhaps otherwise, what one of
// those before says.
func (r *Rule) Repeats(before []Rule) error {
	for i := range before {
		b := &before[i]
		if b.Who != r.Who || b.Tool != r.Tool || b.Shared != r.Shared {
			continue
		}
		for _, both := range []bool{
			b.Rate.Calls != 0 && r.Rate.Calls != 0, b.Day != 0 && r.Day != 0, b.Concurrent != 0 && r.Concurrent != 0,
			b.Bytes != 0 && r.Bytes != 0, b.Sessions != 0 && r.Sessions != 0, b.Tasks != 0 && r.Tasks != 0,
		} {
			if both {
				return fmt.Errorf("another limit says something else of the same: %s", b)
			}
		}
	}
	return nil
}

// units are the times of a rate, as they are written.
var units = []struct { //nolint:gochecknoglobals // a constant
	name string
	time time.Duration
}{{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}}

func parseRate(s string) (Rate, error) {
	if s == none {
		return Rate{Calls: Unlimited}, nil
	}
	calls, per, _ := strings.Cut(s, "/")
	for _, u := range units {
		if per == u.name {
			n, err := parseCount(calls, maxRate)
			return Rate{Calls: n, Per: u.time}, err
		}
	}
	return Rate{}, fmt.Errorf("it is calls for each second, minute or hour, such as 5/s, 10/m or 100/h, or none, not %.40q", s)
}

const none = "none"

func parseLimited(s string) (int64, error) {
	if s == none {
		return Unlimited, nil
	}
	return parseCount(s, maxCount)
}

// parseCount reads a number from 1 to most.
func parseCount(s string, most int64) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n < 1 || n > uint64(most) { //nolint:gosec // most is positive
		return 0, fmt.Errorf("it is a number from 1 to %d, not %.40q", most, s)
	}
	return int64(n), nil
}

// sizes are the units of bytes.
var sizes = []struct { //nolint:gochecknoglobals // a constant
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

func parseBytes(s string) (int64, error) {
	for _, u := range sizes {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			count, err := parseCount(n, math.MaxInt64/u.bytes>>10)
			return count * u.bytes, err
		}
	}
	if n, err := parseLimited(s); err == nil {
		return n, nil
	}
	return 0, fmt.Errorf("it is a size such as 16MiB, or none, not %.40q", s)
}

// String writes the rule as Parse reads it.
func (r *Rule) String() string {
	s := r.Who.String()
	if r.Tool != "" {
		s += " " + r.Tool
	}
	return s + "=" + r.limits()
}

func (r *Rule) limits() string {
	var words []string
	if r.Rate.Calls != 0 {
		words = append(words, "rate "+r.Rate.String())
	}
	for _, l := range []struct {
		name string
		n    int64
	}{{"day", r.Day}, {"concurrent", r.Concurrent}, {"bytes", r.Bytes}, {"sessions", r.Sessions}, {"tasks", r.Tasks}} {
		switch l.n {
		case 0:
		case Unlimited:
			words = append(words, l.name+" "+none)
		default:
			words = append(words, l.name+" "+strconv.FormatInt(l.n, 10))
		}
	}
	if r.Shared {
		words = append(words, "shared")
	}
	return strings.Join(words, " ")
}

// String writes the rate as a rule has it.
func (r Rate) String() string {
	if r.Calls == Unlimited {
		return none
	}
	for _, u := range units {
		if r.Per == u.time {
			s := strconv.FormatInt(r.Calls, 10) + "/" + u.name
			if r.Burst != r.Calls {
				s += " burst " + strconv.FormatInt(r.Burst, 10)
			}
			return s
		}
	}
	return ""
}
