package app

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/tenon-mcp/tenon/gateway"
	"github.com/tenon-mcp/tenon/internal/limit"
	"github.com/tenon-mcp/tenon/server"
)

// newLimiter makes what holds callers to the limits of the config. It is there
// without limits, too: a reload can bring some.
func (a *App) newLimiter() (*limit.Limiter, error) {
	rules, err := a.readLimits(a.config)
	if err != nil {
		return nil, err
	}
	l := limit.New(limit.Options{Names: namesOfServed, Store: a.env.Store, Open: a.config.LimitFailure == "allow", Log: a.env.Logger})
	l.Set(rules)
	return l, nil
}

// allowance is what the caller of a request may hold of the server.
func (a *App) allowance(ctx context.Context) server.Allowance {
	if len(a.limits.Rules()) == 0 {
		return server.Allowance{}
	}
	return server.Allowance(a.limits.Allowance(ctx))
}

// readLimits reads the limits of a config, which have to be about tools and callers
// that there are.
func (a *App) readLimits(c *Config) ([]limit.Rule, error) {
	if c.LimitFailure != "" && c.LimitFailure != "refuse" && c.LimitFailure != "allow" {
		return nil, invalid("limit-failure", " is refuse or allow, not %q", c.LimitFailure)
	}
	var rules []limit.Rule
	for _, text := range c.Limits {
		r, err := limit.Parse(text)
		if err == nil {
			err = c.canBe(r.Who)
		}
		if err == nil {
			err = c.limitsSomething(&r)
		}
		if err == nil && r.Tool != "" && !a.serves(r.Tool) {
			err = fmt.Errorf("no tool has such a name; 'tenon tools' lists them")
		}
		if err == nil {
			err = r.Repeats(rules)
		}
		if err != nil {
			return nil, invalid("limit", " %s: %v", clipped(text), err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func checkLimit(value string) error {
	_, err := limit.Parse(value)
	return err
}

// limitsSomething refuses a limit that is never reached because the server has a
// lower one, or nothing of the kind.
func (c *Config) limitsSomething(r *limit.Rule) error {
	switch {
	case r.Sessions > 0 && (c.Sessions == "off" || c.HTTP == ""):
		return fmt.Errorf("there are no sessions without --http and --sessions on")
	case r.Tasks > 0 && c.TaskAfter < 0:
		return fmt.Errorf("there are no tasks: --task-after is negative")
	case c.MaxConcurrentCalls > 0 && r.Concurrent > int64(c.MaxConcurrentCalls):
		return fmt.Errorf("concurrent %d is more than --max-concurrent-calls %d", r.Concurrent, c.MaxConcurrentCalls)
	case !r.Shared && c.MaxCallsPerCaller > 0 && r.Concurrent > int64(c.MaxCallsPerCaller):
		return fmt.Errorf("concurrent %d is more than --max-calls-per-caller %d", r.Concurrent, c.MaxCallsPerCaller)
	case c.MaxBytesInFlight > 0 && r.Bytes > c.MaxBytesInFlight/2:
		return fmt.Errorf("bytes %d is more than half of --max-bytes-in-flight %d", r.Bytes, c.MaxBytesInFlight)
	}
	return nil
}

// serves reports whether a pattern names a tool that is served.
func (a *App) serves(pattern string) bool {
	return slices.ContainsFunc(a.tools.Tools(), func(t *gateway.Tool) bool {
		return slices.ContainsFunc(namesOfServed(t), func(name string) bool { ok, _ := path.Match(pattern, name); return ok })
	})
}

// namesOfServed are the names by which a limit can mean a tool, those of any setting.
func namesOfServed(t *gateway.Tool) []string {
	own := t.Tool()
	names := namesOf(t.Source(), &own)
	if isFull(own.Original, &own) {
		names = append(names, own.Original)
	}
	return names
}
