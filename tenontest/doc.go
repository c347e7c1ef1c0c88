// Package tenontest checks the parts that somebody else may write: a source,
// typed functions, a state. Each takes one call in a test of its own:
//
//	func TestSource(t *testing.T) {
//		open := func() tenon.Source { return mysource.New("testdata/some.description") }
//		tenontest.Source(t, open, tenontest.SourceOptions{})
//	}
//
// What is wrong is reported by t.Error, a line each. It is worth most under the
// race detector.
//
// It does not know any one source or state, a document format or a protocol:
// only what package tenon asks of such a part. It stands beside the path of a
// call, in tests.
package tenontest
