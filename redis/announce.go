package redis

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/tenon-mcp/tenon/internal/incident"
)

// Announce implements tenon.Announcer by PUBLISH. A message says nothing: what there is
// to know stands in the store.
func (s *Store) Announce(ctx context.Context, topic string) error {
	return failed(s.client.Publish(ctx, s.key(topic), "").Err())
}

// Listen implements tenon.Announcer by SUBSCRIBE, on a connection of its own. After
// that was lost and made again, heard is called for what may have been missed.
func (s *Store) Listen(ctx context.Context, topic string, heard func()) (stop func(), err error) {
	p := s.client.Subscribe(ctx, s.key(topic))
	if _, err := p.Receive(ctx); err != nil { // so that a refusal is an error here
		_ = p.Close()
		return nil, failed(err)
	}
	messages := p.ChannelWithSubscriptions(redis.WithChannelSize(1)) // more than one ask for the same
	done := make(chan struct{})
	incident.Go(nil, "listening to other replicas", func() {
		defer close(done)
		for range messages {
			heard()
		}
	}, nil)
	return func() {
		_ = p.Close() // ends messages
		<-done
	}, nil
}
