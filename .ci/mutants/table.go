package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// mutant is one change of one line, and the test that has to notice it. In the
// table it is
//
//	why: the version header equals the body
//	in:  server/revision.go
//	-    if s.field(h, headerRevision) != m.revision {
//	+    if false {
//	by:  ./server TestDemands/headers
//
// where the text behind - is a line of the file that is there exactly once, or
// else a part of a line that is; white space around both texts does not count.
// Behind by: are a package and one test of it, with a pattern for its subtests
// where only some have to notice. Lines with # are comments.
type mutant struct {
	subject string // the name of its table
	line    int    // there
	why     string
	file    string
	before  string
	after   string
	pkg     string
	test    string
	changed string // the text of the file with the change
}

func (m *mutant) String() string {
	return fmt.Sprintf(".ci/mutants/%s.txt:%d: %s (%s)", m.subject, m.line, m.why, m.file)
}

func readTables(files []string) (all []*mutant, err error) {
	seen := map[string]*mutant{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		some, err := parse(strings.TrimSuffix(filepath.Base(file), ".txt"), string(text))
		if err != nil {
			return nil, err
		}
		for _, m := range some {
			key := m.file + "\n" + m.before + "\n" + m.after
			if twin := seen[key]; twin != nil {
				return nil, fmt.Errorf("%s is %s again", m, twin)
			}
			seen[key] = m
		}
		all = append(all, some...)
	}
	return all, nil
}

// parse reads one table: blocks of five lines.
func parse(subject, text string) (all []*mutant, err error) {
	names := []string{"why:", "in:", "-", "+", "by:"}
	values, first := make([]string, 0, len(names)), 0
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" && len(values) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		name := names[len(values)]
		value, ok := strings.CutPrefix(line, name)
		if !ok {
			return nil, fmt.Errorf(".ci/mutants/%s.txt:%d: a line with %s is wanted, not %q", subject, i+1, name, line)
		}
		if len(values) == 0 {
			first = i + 1
		}
		if values = append(values, strings.TrimSpace(value)); len(values) < len(names) {
			continue
		}
		m := &mutant{subject: subject, line: first, why: values[0], file: values[1], before: values[2], after: values[3]}
		m.pkg, m.test, ok = strings.Cut(values[4], " ")
		if !ok || m.why == "" || m.before == "" || m.before == m.after {
			return nil, fmt.Errorf("%s: it wants a reason, a change, a package and a test", m)
		}
		m.test = strings.TrimSpace(m.test)
		all, values = append(all, m), values[:0]
	}
	if len(values) > 0 {
		return nil, fmt.Errorf(".ci/mutants/%s.txt:%d: the last mutant has no %s", subject, first, names[len(values)])
	}
	return all, nil
}

// make applies the change to the text of the file, and says why it cannot.
func (m *mutant) make() (problem string) {
	read, err := os.ReadFile(m.file)
	if err != nil {
		return err.Error()
	}
	text := string(read)
	whole := regexp.MustCompile(`(?m)^[ \t]*(`+regexp.QuoteMeta(m.before)+`)[ \t]*$`).FindAllStringSubmatchIndex(text, -1)
	at := strings.Index(text, m.before)
	switch n := strings.Count(text, m.before); {
	case len(whole) == 1:
		at = whole[0][2]
	case n != 1:
		return fmt.Sprintf("CANNOT BE MADE: the text is there %d times, not once: %s", n, m.before)
	}
	m.changed = text[:at] + m.after + text[at+len(m.before):]
	if name, _, _ := strings.Cut(m.test, "/"); !hasTest(m.pkg, name) {
		return "HAS NO TEST: " + m.pkg + " " + name
	}
	return ""
}

// hasTest reports whether a package has a test of that name.
func hasTest(pkg, name string) bool {
	files, _ := filepath.Glob(filepath.Join(pkg, "*_test.go")) // the pattern is sound
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}

// pattern is that of the test, as -run takes it, and of no other.
func (m *mutant) pattern() string {
	name, rest, sub := strings.Cut(m.test, "/")
	if name = "^" + name + "$"; sub {
		name += "/" + rest
	}
	return name
}
