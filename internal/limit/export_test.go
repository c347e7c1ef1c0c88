package limit

// Counted bounds what is counted in memory, and returns how much is.
func (l *Limiter) Counted(most int) func() int {
	m := l.meter.(*memory) //nolint:errcheck,forcetypeassert // of a limiter without a store
	m.max = most
	return func() int { return len(m.by) }
}

// Closed is how many demands are known to be refused.
func (l *Limiter) Closed() int { return len(l.meter.(*stored).closed) } //nolint:errcheck,forcetypeassert // of a limiter with a store

// Inside is how many accounts have calls under way.
func (l *Limiter) Inside() int { return len(l.inside) }

// MaxClosed bounds Closed.
const MaxClosed = maxClosed
