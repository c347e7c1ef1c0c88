package app

import (
	"slices"
)

// Reconfigure puts in force what can change of a config while it is served: rules
// about callers, and their limits. What was counted stays counted. An error leaves
// everything as it was.
func (a *App) Reconfigure(c *Config) (changed bool, err error) {
	a.building.Lock()
	defer a.building.Unlock()
	limits, err := a.readLimits(c)
	if err != nil {
		return false, err
	}
	ruled, err := a.applyRules(c)
	if err != nil {
		return false, err
	}
	limited := !slices.Equal(limits, a.limits.Rules())
	if limited {
		a.limits.Set(limits)
	}
	return ruled || limited, nil
}

// applyRules serves the catalog under the rules of c, if they are others.
func (a *App) applyRules(c *Config) (changed bool, err error) {
	if sameRules(a.ruled, c) {
		return false, nil
	}
	before, ruled := a.rules, a.ruled
	if a.rules, err = readRules(c); err == nil {
		a.ruled = c
		catalog, failed := a.build()
		if err = failed; err == nil {
			a.Gateway.Swap(catalog)
			a.limits.Forget()
			return true, nil
		}
	}
	a.rules, a.ruled = before, ruled
	return false, err
}

func sameRules(a, b *Config) bool {
	return slices.Equal(a.Allow, b.Allow) && slices.Equal(a.Deny, b.Deny) && slices.Equal(a.RequireScope, b.RequireScope) && a.ScopesFromDescription == b.ScopesFromDescription
}
