package server

// Allowance is what one caller may hold of what all share, apart from the bounds of
// the server: see [Options]. 0: as much as everybody; negative: as much as all
// together.
type Allowance struct {
	// Bytes of messages that are read, and of answers, in place of a quarter of
	// MaxInFlight for either. Whoever has them waits for more.
	Bytes int64
	// Sessions at a time. The next is refused, unless one of them was not used for a
	// minute, which ends for it.
	Sessions int64
	// Tasks that have not ended. A call of a client that can do tasks is refused while
	// there are as many.
	Tasks int64
}
