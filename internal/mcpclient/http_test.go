package mcpclient

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func allEvents(t *testing.T, stream []byte) (all [][]byte) {
	t.Helper()
	if err := events(bytes.NewReader(stream), func(data []byte) (bool, error) {
		all = append(all, data)
		return false, nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEvents(t *testing.T) {
	got := allEvents(t, []byte("event: message\r\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: still here\n\ndata:\n\ndata: {\"b\":2}"))
	want := [][]byte{[]byte("{\"a\":\n1}"), []byte(`{"b":2}`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// FuzzEvents: what a server streams is never read as more than it sent.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {}\n\ndata: a\ndata: b\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		total := 0
		for _, e := range allEvents(t, stream) {
			if len(bytes.TrimSpace(e)) == 0 {
				t.Error("an event says nothing")
			}
			total += len(e)
		}
		if total > len(stream) {
			t.Errorf("%d bytes of %d", total, len(stream))
		}
	})
}
