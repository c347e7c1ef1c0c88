package openapi

import (
	"bytes"
	"sync"
)

// lineBlock is how many bytes are counted at once. Smaller blocks make a
// question cheaper and the index larger.
const lineBlock = 8 << 10

// lineIndex turns offsets into line numbers. Every tool has a line, so counting
// from the beginning each time would cost a second in a large document.
type lineIndex struct {
	src    []byte
	blocks func() []int // line feeds before each block, counted on first use
}

func newLineIndex(src []byte) *lineIndex {
	return &lineIndex{src: src, blocks: sync.OnceValue(func() []int {
		blocks := make([]int, 0, len(src)/lineBlock+1)
		count := 0
		for from := 0; from <= len(src); from += lineBlock {
			blocks = append(blocks, count)
			count += bytes.Count(src[from:min(from+lineBlock, len(src))], []byte{'\n'})
		}
		return blocks
	})}
}

// crowded tells whether the lines of a file are so long that a number says little:
// minified documents have one.
func (f *file) crowded() bool {
	const long = 1000 // bytes, on average
	if f == nil || f.lines == nil {
		return false
	}
	n := len(f.lines.src)
	lines := f.lines.line(len(bytes.TrimRight(f.lines.src, " \r\n\t")))
	return lines == 1 || n/lines > long
}

// line is the line, from 1, that the offset is in.
func (x *lineIndex) line(offset int) int {
	block := offset / lineBlock
	return x.blocks()[block] + bytes.Count(x.src[block*lineBlock:offset], []byte{'\n'}) + 1
}
