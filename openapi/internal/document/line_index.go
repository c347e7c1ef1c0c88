package document

import (
	"bytes"
	"sync"
)

// lineBlock is the number of bytes per counted block. Smaller blocks make a
// lookup cheaper and the index larger.
const lineBlock = 8 << 10

// lineIndex converts offsets to line numbers. Every tool has a line, and
// counting from the start each time would cost a second in a large document.
type lineIndex struct {
	src    []byte
	blocks func() []int // line feeds before each block, counted at first use
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

// HasLongLines reports whether the lines of a file are so long that a line number
// says little, as in minified documents.
func (f *File) HasLongLines() bool {
	const long = 1000 // bytes, on average
	if f == nil || f.lines == nil {
		return false
	}
	n := len(f.lines.src)
	lines := f.lines.line(len(bytes.TrimRight(f.lines.src, " \r\n\t")))
	return lines == 1 || n/lines > long
}

// line returns the 1-based line of an offset.
func (x *lineIndex) line(offset int) int {
	block := offset / lineBlock
	return x.blocks()[block] + bytes.Count(x.src[block*lineBlock:offset], []byte{'\n'}) + 1
}
