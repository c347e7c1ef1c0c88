package auth

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

const (
	maxAnswers = 8192 // that are kept
	maxAsking  = 16   // questions at a time
)

// sum is the SHA-256 of what an issuer is asked: tokens are not kept.
type sum [sha256.Size]byte

// answers are what an issuer said: one question at a time for all who ask the
// same, and each answer as long as it counts.
type answers[T any] struct {
	places      chan struct{}
	unavailable func(why string) *Error

	mu    sync.Mutex
	known map[sum]*answer[T]
}

// answer is what an issuer says of one question. Its fields are set before ready is
// closed.
type answer[T any] struct {
	ready chan struct{}
	value T
	err   *Error
	until time.Time
}

// newAnswers wants to know what is told where the issuer was not asked.
func newAnswers[T any](unavailable func(why string) *Error) *answers[T] {
	return &answers[T]{places: make(chan struct{}, maxAsking), unavailable: unavailable, known: map[sum]*answer[T]{}}
}

// get returns the answer that is known, or asks. ask says until when its answer
// counts, also if it is an error; zero: it is for those who wait now.
func (k *answers[T]) get(ctx context.Context, of sum, ask func(context.Context) (T, time.Time, *Error)) (value T, e *Error) {
	k.mu.Lock()
	a := k.known[of]
	mine := a == nil || a.over()
	if mine {
		k.forget()
		a = &answer[T]{ready: make(chan struct{})}
		k.known[of] = a
	}
	k.mu.Unlock()
	if mine {
		k.settle(ctx, a, ask)
	}
	select {
	case <-a.ready:
	case <-ctx.Done():
		return value, k.unavailable("the request ended before")
	}
	return a.value, a.err
}

// drop forgets an answer.
func (k *answers[T]) drop(of sum) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, of)
}

// over reports whether the answer is there and too old. What is under way is not.
func (a *answer[T]) over() bool {
	select {
	case <-a.ready:
		return !time.Now().Before(a.until)
	default:
		return false
	}
}

// settle asks, whatever becomes of the request that was first, and wakes all who
// wait.
func (k *answers[T]) settle(ctx context.Context, a *answer[T], ask func(context.Context) (T, time.Time, *Error)) {
	a.err = k.unavailable("the issuer was not asked")
	defer close(a.ready)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	defer cancel()
	select {
	case k.places <- struct{}{}:
		defer func() { <-k.places }()
	case <-ctx.Done():
		a.err = k.unavailable("too many tokens are asked about")
		return
	}
	a.value, a.until, a.err = ask(ctx)
}

// forget forgets answers where there are too many: old ones, then whichever comes
// first, those that say no before others. k.mu is held.
func (k *answers[T]) forget() {
	if len(k.known) < maxAnswers {
		return
	}
	var no, one sum
	denied := false
	for of, a := range k.known {
		if a.over() {
			delete(k.known, of)
			continue
		}
		one = of
		select {
		case <-a.ready:
			if a.err != nil && a.err.Status != http.StatusServiceUnavailable {
				no, denied = of, true
			}
		default:
		}
	}
	switch {
	case len(k.known) < maxAnswers:
	case denied:
		delete(k.known, no)
	default:
		delete(k.known, one)
	}
}
