// Command startup measures how long tenon takes from exec to the first page of
// tools of a big document, and the peak memory of the whole process, beside
// the floor: a process that reads the file and checks that it is JSON. Both
// are run in turn, so that a busy machine slows both.
//
//	startup TENON FLOOR DOCUMENT OUT
//
// It writes one JSON object to OUT and a line for people to standard output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const rounds = 25 // on a busy machine the fastest of a few is still slow

// report is what OUT holds. Times are milliseconds, memory is megabytes.
type report struct {
	Document  string  `json:"document"`
	Bytes     int64   `json:"bytes"`
	Tools     int     `json:"toolsOnFirstPage"`
	PageBytes int     `json:"firstPageBytes"`
	FirstPage spread  `json:"firstPageMS"`
	Floor     spread  `json:"floorMS"`
	Ratio     float64 `json:"ratioOfMinima"`
	PeakMB    float64 `json:"peakMB"`
}

type spread struct{ Min, Median, Max float64 }

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: startup TENON FLOOR DOCUMENT OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "startup:", err)
		os.Exit(1)
	}
}

func run(tenon, floor, document, out string) error {
	info, err := os.Stat(document)
	if err != nil {
		return err
	}
	r := report{Document: info.Name(), Bytes: info.Size()}
	var first, least []float64
	for range rounds {
		ms, err := timeFloor(floor, document)
		if err != nil {
			return err
		}
		least = append(least, ms)
		if ms, err = timeFirstPage(tenon, document, &r); err != nil {
			return err
		}
		first = append(first, ms)
	}
	r.FirstPage, r.Floor = spreadOf(first), spreadOf(least)
	r.Ratio = r.FirstPage.Min / r.Floor.Min
	fmt.Printf("%s (%.1f MB): first page of %d tools after %.0f ms (median %.0f, max %.0f); floor %.0f ms (median %.0f); ratio %.2f; peak %.0f MB\n",
		r.Document, float64(r.Bytes)/1e6, r.Tools, r.FirstPage.Min, r.FirstPage.Median, r.FirstPage.Max, r.Floor.Min, r.Floor.Median, r.Ratio, r.PeakMB)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o644)
}

func timeFloor(floor, document string) (float64, error) {
	began := time.Now()
	answer, err := exec.Command(floor, document).Output()
	if err == nil && strings.TrimSpace(string(answer)) != "true" {
		err = fmt.Errorf("the floor says %q", answer)
	}
	return float64(time.Since(began).Microseconds()) / 1e3, err
}

// timeFirstPage starts the server on stdio and measures until the last byte
// of the first page has arrived.
func timeFirstPage(tenon, document string, r *report) (float64, error) {
	cmd := exec.Command(tenon, "serve", document)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if _, err := in.Write([]byte(listTools)); err != nil {
		return 0, err
	}
	line, err := bufio.NewReaderSize(pipe, 1<<20).ReadBytes('\n')
	took := float64(time.Since(began).Microseconds()) / 1e3
	if err != nil {
		return 0, fmt.Errorf("no first page: %w", err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		return 0, err
	}
	var page struct {
		Result struct {
			Tools []struct{ Name string } `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &page); err != nil || len(page.Result.Tools) == 0 {
		return 0, fmt.Errorf("the first page holds no tools: %.200s", line)
	}
	r.Tools, r.PageBytes = len(page.Result.Tools), len(line)
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.PeakMB = max(r.PeakMB, float64(usage.Maxrss)/1024) // Linux counts kilobytes
	}
	return took, nil
}

func spreadOf(ms []float64) spread {
	slices.Sort(ms)
	return spread{ms[0], ms[len(ms)/2], ms[len(ms)-1]}
}
