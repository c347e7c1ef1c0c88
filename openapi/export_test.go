package openapi

import "context"

// Poll asks what s has read from the web until ctx ends. Unlike Watch it starts
// nothing that waits for the operating system, so that its time can be faked.
func Poll(ctx context.Context, s *Source, changed func()) error {
	o, err := s.options.defaults()
	if err != nil {
		return err
	}
	newPoller(o).poll(ctx, s, changed)
	return nil
}
