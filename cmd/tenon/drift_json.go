package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenon-mcp/tenon/app"
	"github.com/tenon-mcp/tenon/evidence"
)

// driftJSON is a comparison as programs read it.
type driftJSON struct {
	Issues     []driftIssue `json:"issues"`
	Unseen     []driftPlace `json:"unseen"`
	Missing    []driftPlace `json:"missing"`
	Undeclared []driftPlace `json:"undeclared"`
	Places     int          `json:"place_count"`
	Responses  int64        `json:"response_count"`
	Operations int          `json:"operation_count"`
	Dropped    int64        `json:"dropped_count"`
}

type driftIssue struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Rule     string       `json:"rule"`
	Message  string       `json:"message"`
	Source   string       `json:"source,omitempty"`
	Pointer  string       `json:"pointer"`
	Declared string       `json:"declared"`
	Seen     string       `json:"seen"`
	Count    int64        `json:"response_count"`
	First    string       `json:"first,omitempty"`
	Last     string       `json:"last,omitempty"`
	File     string       `json:"file,omitempty"`
	Line     int          `json:"line,omitempty"`
	Why      string       `json:"why,omitempty"` // it is known
	Until    string       `json:"until,omitempty"`
	Places   []driftPlace `json:"places"`
}

type driftPlace struct {
	Name      string `json:"name"`
	Status    string `json:"status,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Pointer   string `json:"pointer,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Count     int64  `json:"response_count"`
}

func (x *driftReport) json() driftJSON {
	out := driftJSON{Issues: []driftIssue{}, Unseen: []driftPlace{}, Missing: []driftPlace{}, Undeclared: []driftPlace{}, Places: x.Places, Responses: x.Calls, Operations: x.tools, Dropped: x.dropped}
	for i := range x.Drifts {
		f := &x.Drifts[i]
		file, line := f.Places[0].Described.At(f.Pointer)
		issue := driftIssue{
			ID: f.ID, Type: "error", Rule: f.Keyword, Message: driftMessage(f), Source: f.Source, Pointer: f.Pointer, Declared: f.Declared, Seen: f.Seen,
			Count: f.Count, First: stamp(f.First), Last: stamp(f.Last), File: file, Line: line,
		}
		if k := x.known[f.ID]; k != nil {
			issue.Why, issue.Until = k.Reason, k.Until
			if !k.expired {
				issue.Type = "info"
			}
		}
		for _, p := range f.Places {
			issue.Places = append(issue.Places, driftPlace{Name: p.Described.Tool, Status: p.Status, MediaType: p.MediaType, Count: p.Count})
		}
		out.Issues = append(out.Issues, issue)
	}
	for _, u := range x.Unseen {
		out.Unseen = append(out.Unseen, driftPlace{Name: u.Described.Tool, Status: u.Status, MediaType: u.MediaType})
	}
	for _, m := range x.Missing {
		out.Missing = append(out.Missing, driftPlace{Name: m.Described.Tool, Status: m.Status, MediaType: m.MediaType, Pointer: m.Pointer})
	}
	for _, l := range x.Learned {
		out.Undeclared = append(out.Undeclared, driftPlace{Name: l.Described.Tool, Status: l.Status, MediaType: l.MediaType, Pointer: l.Pointer, Kind: l.Kind, Count: l.Count})
	}
	return out
}

// driftMessage is drift in a sentence.
func driftMessage(f *evidence.Drift) string {
	declared := f.Declared
	if declared == "" {
		declared = "something else"
	}
	return onlyPrinting(fmt.Sprintf("%s at %s: %s is declared, %s came", operationsOf(f), whereOf(f), declared, f.Seen))
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// The parts of SARIF 2.1.0 that are written: docs.oasis-open.org/sarif/sarif/v2.1.0.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Occurrences  int64              `json:"occurrenceCount"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
	}
)

// maxSARIFLocations is how many places of one result code hosts show.
const maxSARIFLocations = 10

func (x *driftReport) sarif() sarifLog {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "tenon drift", Version: app.Version(), Rules: []sarifRule{}}}, Results: []sarifResult{}}
	rules := map[string]int{}
	for i := range x.Drifts {
		f := &x.Drifts[i]
		rule, ok := rules[f.Keyword]
		if !ok {
			rule = len(run.Tool.Driver.Rules)
			rules[f.Keyword] = rule
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{"drift/" + f.Keyword, sarifText{"Responses violate " + f.Keyword + " of their description."}})
		}
		r := sarifResult{
			RuleID: "drift/" + f.Keyword, RuleIndex: rule, Level: "warning", Message: sarifText{driftMessage(f)},
			Fingerprints: map[string]string{"tenon/drift/v1": f.ID}, Occurrences: f.Count,
		}
		if k := x.known[f.ID]; k != nil && !k.expired {
			r.Suppressions = []sarifSuppression{{"external", "accepted", k.Reason}}
		}
		for _, p := range f.Places[:min(len(f.Places), maxSARIFLocations)] {
			at := sarifLocationOf(f, p)
			if n := len(r.Locations) - 1; n >= 0 && at.Physical != nil && r.Locations[n].Physical != nil && at.Physical.same(r.Locations[n].Physical) { // one definition is one place
				r.Locations[n].Logical = append(r.Locations[n].Logical, at.Logical...)
				continue
			}
			r.Locations = append(r.Locations, at)
		}
		run.Results = append(run.Results, r)
	}
	return sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}}
}

func (p *sarifPhysical) same(o *sarifPhysical) bool {
	return p.Artifact == o.Artifact && (p.Region == nil) == (o.Region == nil) && (p.Region == nil || *p.Region == *o.Region)
}

func sarifLocationOf(f *evidence.Drift, p evidence.Place) sarifLocation {
	at := sarifLocation{Logical: []sarifLogical{{p.Described.Tool + " " + strings.TrimSpace(p.Status+" "+p.MediaType) + " #" + f.Pointer, "member"}}}
	uri, line := p.Described.At(f.Pointer)
	if uri == "" {
		return at
	}
	if !strings.Contains(uri, "://") {
		uri = fileURI(uri)
	}
	at.Physical = &sarifPhysical{Artifact: sarifArtifact{uri}}
	if line > 0 {
		at.Physical.Region = &sarifRegion{line}
	}
	return at
}

// fileURI is a file as a URI, relative where the name is.
func fileURI(name string) string {
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}
