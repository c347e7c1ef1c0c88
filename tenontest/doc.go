// Package tenontest checks the parts that somebody else may write: a source,
// typed functions, a state. Each takes one call in a test of its own:
//
//	func TestSource(t *testing.T) {
//		open := func() tenon.Source { return mysource.New("testdata/some.description") }
//		tenontest.Source(t, open, tenontest.SourceOptions{})
//	}
//
// It knows what package tenon asks of such a part, and nothing of any one of
// them: no document format, no protocol. It stands beside the path of a call,
// in tests only. Run them with the race detector.
package tenontest
