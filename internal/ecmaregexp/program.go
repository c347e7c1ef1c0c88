package ecmaregexp

// program is a pattern for the backtracking matcher, which follows the
// semantics of ECMA-262 (22.2.2) step by step.
type program struct {
	code     []step
	slots    int  // memory of a run: two per group, two per loop
	anchored bool // it matches at the beginning of the text only
}

// op is the operation of a step.
type op uint8

const (
	opMatch op = iota
	opSet      // a character of the set
	opRun      // min to max characters of the set, as many as there are
	opJump     // to x
	opFork     // continue, and if that fails jump to x
	opSave     // the position into slot x
	opBegin
	opEnd
	opEdge
	opNotEdge
	opBack  // the text between the slots 2x and 2x+1
	opLook  // the next steps match, up to an opMatch; then continue at x
	opZero  // the loop of slot x begins
	opLoop  // repeat, or continue at y; x is the loop's slot
	opAgain // the end of a loop's body: back to x
)

// step is one instruction.
type step struct {
	op       op
	lazy     bool // of opLoop
	negative bool // of opLook
	back     bool // characters are read backwards, as in look-behind
	x, y     int
	min, max int
	from, to int // of opLoop: the groups that a round resets
	set      set
}

func newProgram(t *term, groups int) *program {
	p := &program{slots: 2 * (groups + 1)}
	p.add(t, false)
	p.emit(step{op: opMatch})
	p.anchored = startAnchored(t)
	return p
}

func (p *program) emit(s step) int {
	p.code = append(p.code, s)
	return len(p.code) - 1
}

// startAnchored reports whether a term can match at the beginning of the text only.
func startAnchored(t *term) bool {
	switch t.kind {
	case kindBegin:
		return true
	case kindCat, kindGroup:
		return len(t.sub) > 0 && startAnchored(t.sub[0])
	case kindAlt:
		for _, s := range t.sub {
			if !startAnchored(s) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// add writes the steps of a term; back is the direction.
func (p *program) add(t *term, back bool) {
	switch t.kind {
	case kindCat:
		for i := range t.sub {
			if back {
				i = len(t.sub) - 1 - i
			}
			p.add(t.sub[i], back)
		}
	case kindAlt:
		p.alternatives(t, back)
	case kindSet:
		p.emit(step{op: opSet, set: t.set, back: back})
	case kindGroup:
		first, last := 2*t.group, 2*t.group+1
		if back {
			first, last = last, first
		}
		p.emit(step{op: opSave, x: first})
		p.add(t.sub[0], back)
		p.emit(step{op: opSave, x: last})
	case kindRepeat:
		p.repeat(t, back)
	case kindBegin:
		p.emit(step{op: opBegin})
	case kindEnd:
		p.emit(step{op: opEnd})
	case kindEdge:
		p.emit(step{op: opEdge})
	case kindNotEdge:
		p.emit(step{op: opNotEdge})
	case kindLook:
		at := p.emit(step{op: opLook, negative: t.negative})
		p.add(t.sub[0], t.behind)
		p.emit(step{op: opMatch})
		p.code[at].x = len(p.code)
	case kindBack:
		p.emit(step{op: opBack, x: t.group, back: back})
	}
}

func (p *program) alternatives(t *term, back bool) {
	var ends []int
	for i, s := range t.sub {
		fork := -1
		if i < len(t.sub)-1 {
			fork = p.emit(step{op: opFork})
		}
		p.add(s, back)
		if fork >= 0 {
			ends = append(ends, p.emit(step{op: opJump}))
			p.code[fork].x = len(p.code)
		}
	}
	for _, at := range ends {
		p.code[at].x = len(p.code)
	}
}

func (p *program) repeat(t *term, back bool) {
	body := t.sub[0]
	for body.kind == kindCat && len(body.sub) == 1 {
		body = body.sub[0]
	}
	if body.kind == kindSet && !t.lazy && !back {
		p.emit(step{op: opRun, set: body.set, min: t.min, max: t.max})
		return
	}
	slot := p.slots
	p.slots += 2
	p.emit(step{op: opZero, x: slot})
	loop := p.emit(step{op: opLoop, x: slot, min: t.min, max: t.max, lazy: t.lazy, from: t.from, to: t.to})
	p.add(body, back)
	p.emit(step{op: opAgain, x: loop})
	p.code[loop].y = len(p.code)
}
