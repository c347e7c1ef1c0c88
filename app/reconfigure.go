package app

import (
	"context"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/tenon-mcp/tenon/audit"
	"github.com/tenon-mcp/tenon/internal/incident"
)

// Change is what another config changes.
type Change struct {
	Now     []string // settings that are in force as it has them
	Sources []string // sources that were read anew, came or went
	Later   []string // settings that take effect at the next start
}

// String says it in a line, such as "limit is in force; http takes effect at the next
// start"; empty: nothing changes.
func (c Change) String() string {
	var parts []string
	for _, p := range []struct {
		names   []string
		one     string
		several string
	}{{c.Now, "is in force", "are in force"}, {c.Sources, "was read anew, came or went", "were read anew, came or went"}, {c.Later, "takes effect at the next start", "take effect at the next start"}} {
		switch len(p.names) {
		case 0:
		case 1:
			parts = append(parts, p.names[0]+" "+p.one)
		default:
			parts = append(parts, strings.Join(p.names, ", ")+" "+p.several)
		}
	}
	return strings.Join(parts, "; ")
}

// Reconfigure puts another config in force, all of it or nothing: an error leaves
// everything as it was. Sources whose settings are the same go on as they are; what
// was counted stays counted. Settings that cannot change while tools are served keep
// their values, see [Setting.AtStart].
//
// Whatever is made of a config belongs into inForce, where it is replaced, or is
// replaced in adopt. TestEverySettingReloads fails for a setting of which neither is
// true and that is not marked as one for the next start.
func (a *App) Reconfigure(ctx context.Context, c *Config) (Change, error) {
	a.reconfiguring.Lock()
	defer a.reconfiguring.Unlock()
	a.building.Lock()
	before := &App{inForce: a.inForce, users: a.users}
	a.building.Unlock()
	wanted := *c
	change := wanted.keepAtStart(before.config)
	if change.String() == "" && sameSources(before.config, &wanted) {
		return change, nil
	}
	next := &App{inForce: newInForce(&wanted), env: a.env, telemetry: a.telemetry, before: before}
	next.env.AllowUnmatched = false
	err := next.read(ctx)
	if err == nil {
		err = a.adopt(next, &change) //nolint:contextcheck // clients are told later
	}
	if err != nil {
		next.end()
		return Change{}, wanted.located(err)
	}
	a.prepareAccess(ctx)
	return change, nil
}

// adopt puts in force what was made of another config.
func (a *App) adopt(next *App, change *Change) error {
	a.building.Lock()
	defer a.building.Unlock()
	catalog, err := next.built()
	if err != nil {
		return err
	}
	limits, err := next.readLimits(next.config)
	if err != nil {
		return err
	}
	var log *audit.Log
	audited := auditedAlike(a.config, next.config)
	if !audited {
		if log, err = a.openAudit(next.config); err != nil {
			return err
		}
	}
	before := a.inForce
	a.inForce = next.inForce
	a.options.Configure = a.configure
	a.access.Store(next.access.Load())
	a.limits.Set(limits)
	if a.tls != nil && next.tls != nil {
		a.tls.replace(next.tls)
	}
	a.Gateway.SetTimes(longest(a.config.Sources), a.config.Defaults.FlushInterval)
	a.applyPolicy()
	a.swap(catalog)
	a.limits.Forget()
	if !audited {
		if err := a.audit.replace(log); err != nil {
			a.env.Logger.Error("the audit log before does not end cleanly", "error", err)
		}
	}
	a.exchangeSources(before.sources, next, change)
	if a.roll != nil {
		if secret, err := a.secret(); err == nil { // it is that of the start
			a.roll.Configured(a.config.digests(secret))
		}
	}
	return nil
}

// exchangeSources follows the sources that are new, and ends those that are not
// served any more after their last call.
func (a *App) exchangeSources(before []*loaded, next *App, change *Change) {
	a.open = append(next.open, a.open...) // the audit log and telemetry end last
	names := map[string]bool{}
	for _, s := range a.sources {
		if !slices.Contains(before, s) {
			names[s.Name] = true
			if a.follow != nil {
				a.follow(s)
			}
		}
	}
	for _, s := range before {
		if slices.Contains(a.sources, s) {
			continue
		}
		names[s.Name] = true
		a.endSource(s)
	}
	for name := range names {
		change.Sources = append(change.Sources, "source "+name)
	}
	slices.Sort(change.Sources)
}

// endSource ends a source that is not served any more, after its last call.
func (a *App) endSource(s *loaded) {
	if s.unfollow != nil {
		s.unfollow()
	}
	c, holds := s.source.(io.Closer)
	if !holds {
		return
	}
	a.open = slices.DeleteFunc(a.open, func(o io.Closer) bool { return o == c })
	incident.Go(a.env.Logger, "ending "+s.Name, func() {
		if err := c.Close(); err != nil {
			a.env.Logger.Error("a source does not end cleanly", "error", err)
		}
	}, nil)
}

// kept is the source of the config before that s is, with the same settings; nil:
// there is none.
func (a *App) kept(s *loaded) *loaded {
	if a.before == nil || !sourcesShare(a.before.config, a.config) {
		return nil
	}
	for _, old := range a.before.sources {
		if old.Name == s.Name && old.Spec == s.Spec && old.alone == s.alone && reflect.DeepEqual(old.Options, s.Options) {
			return old
		}
	}
	return nil
}

// sourcesShare reports whether two configs agree in what all sources are made with.
func sourcesShare(a, b *Config) bool { return a.PollInterval == b.PollInterval }

func sameSources(a, b *Config) bool {
	return slices.EqualFunc(a.Sources, b.Sources, func(x, y Source) bool {
		return x.Name == y.Name && x.Spec == y.Spec && reflect.DeepEqual(x.Options, y.Options)
	})
}

// keepAtStart gives the settings that cannot change their values before, and says
// which differ.
func (c *Config) keepAtStart(before *Config) (change Change) {
	tls := c.TLSCert == "" != (before.TLSCert == "")
	for _, s := range Settings() {
		now, then := reflect.ValueOf(s.Field(c)).Elem(), reflect.ValueOf(s.Field(before)).Elem()
		if reflect.DeepEqual(now.Interface(), then.Interface()) || now.Kind() == reflect.Slice && now.Len()+then.Len() == 0 {
			continue
		}
		if s.atStart || tls && strings.HasPrefix(s.Name, "tls-") {
			change.Later = append(change.Later, s.Name)
			now.Set(then)
		} else {
			change.Now = append(change.Now, s.Name)
		}
	}
	return change
}
