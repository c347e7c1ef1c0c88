package proc

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// maxJob bounds the processes of a job that are looked at.
const maxJob = 4096

// jobList is JOBOBJECT_BASIC_PROCESS_ID_LIST.
type jobList struct {
	assigned, listed uint32
	ids              [maxJob]uintptr
}

// Processes returns the child's processes: itself and those of its job. ok is
// false where the system does not tell, and it is empty once the child has
// ended.
func (c *Child) Processes() (pids []int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock() // the job stays open meanwhile
	if c.pid == 0 {
		return nil, true
	}
	if c.group.job == 0 {
		return []int{c.pid}, true // what it started is not known
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
