package proc

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// maxJob limits the processes of a job that are read.
const maxJob = 4096

// jobList is JOBOBJECT_BASIC_PROCESS_ID_LIST.
type jobList struct {
	assigned, listed uint32
	ids              [maxJob]uintptr
}

// Processes returns the child's processes: itself and those of its job. It is
// empty once the child has ended; ok is false where the system does not report
// them.
func (c *Child) Processes() (pids []int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock() // keeps the job open meanwhile
	if c.pid == 0 {
		return nil, true
	}
	if c.group.job == 0 {
		return []int{c.pid}, true // its children are unknown
	}
	var list jobList
	err := windows.QueryInformationJobObject(c.group.job, windows.JobObjectBasicProcessIdList,
		uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil {
		return nil, false
	}
	for _, id := range list.ids[:min(list.listed, maxJob)] {
		pids = append(pids, int(id))
	}
	return pids, true
}
