package main

import (
	"fmt"
	"html"
	"strings"
)

// Measures of the drawing, in pixels but for rows, columns and seconds.
const (
	columns, rows = 104, 25
	width         = 900
	leading       = 19
	margin        = 18
	bar           = 34 // of the window
	hold          = 4  // seconds for which a scene stands
	glide         = 0.6
)

const style = `
svg { --ink: #24292f; --soft: #6a737d; --paper: #fff; --bar: #f1f3f5; --line: #d0d7de; --bold: #0b1015; --red: #b3261e; --green: #1a7f37; --yellow: #9a6700; --cyan: #0b6c8f }
@media (prefers-color-scheme: dark) { svg { --ink: #d5dae0; --soft: #8b949e; --paper: #0f1419; --bar: #1b2128; --line: #323a43; --bold: #fff; --red: #ff8f87; --green: #57c56c; --yellow: #e0b341; --cyan: #5fc3e4 } }
.window { fill: var(--paper); stroke: var(--line) }
.bar { fill: var(--bar) } .dot { fill: var(--line) }
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: var(--ink); white-space: pre }
.name { fill: var(--soft); text-anchor: middle; font-size: 12.5px }
.c1 { fill: var(--bold); font-weight: bold } .c2 { fill: var(--soft) } .c31 { fill: var(--red) } .c32 { fill: var(--green) } .c33 { fill: var(--yellow) } .c36 { fill: var(--cyan) }
`

// draw makes a window of lines, the command first. Each scene stands for a while.
func draw(command string, lines []string) string {
	lines = append([]string{"\x1b[1m" + command + "\x1b[0m", ""}, lines...)
	tops := stops(lines)
	const height = bar + rows*leading + 2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="A recording of tenon demo">`, width, height, width, height)
	b.WriteString("\n<style>" + style + motion(tops) + "</style>\n")
	fmt.Fprintf(&b, `<clipPath id="frame"><rect x="1" y="%d" width="%d" height="%d"/></clipPath>`+"\n", bar+margin-2, width-2, rows*leading+4)
	fmt.Fprintf(&b, `<rect class="window" x=".5" y=".5" width="%d" height="%d" rx="9"/>`+"\n", width-1, height-1)
	fmt.Fprintf(&b, `<path class="bar" d="M1 %d V10 a9 9 0 0 1 9 -9 H%d a9 9 0 0 1 9 9 V%d z"/>`, bar, width-10, bar)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle class="dot" cx="%d" cy="%d" r="6"/>`, 22+20*i, bar/2)
	}
	fmt.Fprintf(&b, `<text class="name" x="%d" y="%d">tenon demo</text>`+"\n", width/2, bar/2+5)
	b.WriteString(`<g clip-path="url(#frame)"><g class="roll">` + "\n")
	for i, line := range lines {
		if line != "" {
			fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", margin, bar+margin+14+i*leading, spans(line))
		}
	}
	b.WriteString("</g></g>\n</svg>\n")
	return b.String()
}

// stops are the rows above the window, for each view of the lines: a scene has one of
// its own unless the one before shows all of it, and the end has one.
func stops(lines []string) []int {
	all, last := []int{0}, max(0, len(lines)-rows)
	for i, line := range lines {
		if !strings.HasPrefix(line, "\x1b[1m") {
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], "\x1b[1m") {
			end++
		}
		if top := min(i, last); end-1-all[len(all)-1] > rows && top > all[len(all)-1] {
			all = append(all, top)
		}
	}
	if last > all[len(all)-1] {
		all = append(all, last)
	}
	return all
}

// motion scrolls to each scene and back to the first.
func motion(tops []int) string {
	var b strings.Builder
	total := float64(hold * len(tops))
	b.WriteString("@keyframes roll {\n")
	for i, top := range tops {
		from, to := float64(hold*i), float64(hold*(i+1))-glide
		if i == len(tops)-1 {
			to = total - 0.01 // back at once
		}
		fmt.Fprintf(&b, "%.2f%%, %.2f%% { transform: translateY(%dpx) }\n", 100*from/total, 100*to/total, -top*leading)
	}
	fmt.Fprintf(&b, "}\n.roll { animation: roll %ds ease-in-out infinite }\n", hold*len(tops))
	// Who wants no motion sees the service that breaks its schema.
	fmt.Fprintf(&b, "@media (prefers-reduced-motion: reduce) { .roll { animation: none; transform: translateY(%dpx) } }\n", -tops[min(3, len(tops)-1)]*leading)
	return b.String()
}

// spans makes elements of the colors in a line, and cuts it at the edge.
func spans(line string) string {
	var b strings.Builder
	left := columns
	for i, part := range strings.Split(line, "\x1b[") {
		code := "0"
		if i > 0 {
			code, part, _ = strings.Cut(part, "m")
		}
		text := []rune(part)
		if len(text) > left {
			text = append(text[:max(0, left-1)], '…')
		}
		left -= len(text)
		switch {
		case len(text) == 0 || left < 0:
		case code == "0":
			b.WriteString(html.EscapeString(string(text)))
		default:
			fmt.Fprintf(&b, `<tspan class="c%s">%s</tspan>`, code, html.EscapeString(string(text)))
		}
	}
	return b.String()
}
