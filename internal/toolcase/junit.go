package toolcase

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The XML that test reporters of continuous integration read, as JUnit began it.

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure,omitempty"`
	Skipped *junitMessage `xml:"skipped,omitempty"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes results as JUnit XML.
func JUnit(name string, results []Result) ([]byte, error) {
	s := junitSuite{Name: plain(name), Tests: len(results), Cases: []junitCase{}}
	var total time.Duration
	for i := range results {
		r := &results[i]
		total += r.Duration
		title := r.Case.Name
		if title == "" {
			title = fmt.Sprintf("case %d", i+1)
		}
		c := junitCase{Class: plain(r.Case.Tool), Name: plain(title), Time: seconds(r.Duration)}
		first, _, _ := strings.Cut(r.Why, "\n")
		m := &junitMessage{Message: plain(first), Text: plain(r.Why)}
		switch r.Outcome {
		case Pass:
		case Skipped:
			s.Skipped++
			m.Text = ""
			c.Skipped = m
		case Failed, Violation, Empty:
			s.Failures++
			m.Type = string(r.Outcome)
			c.Failure = m
		}
		s.Cases = append(s.Cases, c)
	}
	s.Time = seconds(total)
	text, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{s}}, "", "  ")
	return append(append([]byte(xml.Header), text...), '\n'), err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// plain is a text without characters that XML has no way to write.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return '?'
		}
		return r
	}, text)
}
