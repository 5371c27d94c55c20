//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc/PID/stat on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// cpuOf is the processor time that a process has used, its own and the
// system's for it; 0 when there is no such process here.
func cpuOf(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything; utime and stime are the
	// 12th and 13th after it.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * tick
}

// memoryOf reads VmRSS (now) or VmHWM (at most, ever) of a process, in bytes.
func memoryOf(pid int, what string) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return field(string(status), what) << 10
}

// field finds "name: 123 kB" in a file of /proc.
func field(file, name string) int64 {
	for line := range strings.Lines(file) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// machine describes what the figures were measured on.
func machine() string {
	model := "unknown processor"
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(cpuinfo)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	meminfo, _ := os.ReadFile("/proc/meminfo")
	return fmt.Sprintf("%d cores (%s), %d GB, %s %s/%s", runtime.NumCPU(), model,
		field(string(meminfo), "MemTotal")>>20, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
