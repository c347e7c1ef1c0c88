package proc

import (
	"bytes"
	"os"
	"strconv"
)

// Processes returns the child's processes: itself, its group and its
// descendants. It is empty once the child has ended; ok is false where the
// system does not report them.
func (c *Child) Processes() (pids []int, ok bool) {
	c.mu.Lock()
	root := c.pid
	c.mu.Unlock()
	if root == 0 {
		return nil, true
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, false
	}
	type process struct{ parent, group int }
	all := make(map[int]process, len(entries))
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if parent, group, ok := family(pid); ok {
				all[pid] = process{parent, group}
			}
		}
	}
	for pid, p := range all {
		ours := pid == root || p.group == root
		for up, steps := p.parent, 0; !ours && up > 1 && steps < len(all); steps++ {
			ours, up = up == root, all[up].parent
		}
		if ours {
			pids = append(pids, pid)
		}
	}
	return pids, true
}

// family reads a process's parent and group: the second and third field after
// the name, which is in parentheses and may contain any character.
func family(pid int) (parent, group int, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0, false
	}
	words := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(words) < 3 {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(string(words[1]))
	if err != nil {
		return 0, 0, false
	}
	group, err = strconv.Atoi(string(words[2]))
	return parent, group, err == nil
}
