//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cgroup limits the memory of the processes in it, by version 1 or 2.
type cgroup struct {
	dir      string
	peakFile string
}

func newCgroup(limit int64) (*cgroup, error) {
	name := fmt.Sprintf("carteira-chaos-%d-%d", os.Getpid(), time.Now().UnixNano())
	for _, v := range []struct{ mount, limit, peak string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.max_usage_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.peak"},
	} {
		g := &cgroup{filepath.Join(v.mount, name), v.peak}
		if os.Mkdir(g.dir, 0o755) != nil {
			continue
		}
		if os.WriteFile(filepath.Join(g.dir, v.limit), []byte(strconv.FormatInt(limit, 10)), 0o600) == nil {
			return g, nil
		}
		g.remove()
	}
	return nil, skip("a limit of memory needs the right to make a cgroup")
}

// wrap has a program enter the group before it begins.
func (g *cgroup) wrap(argv ...string) []string {
	return append([]string{"/bin/sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, g.dir}, argv...)
}

// peak is the most memory that was used, 0 where the kernel does not say.
func (g *cgroup) peak() int64 {
	text, _ := os.ReadFile(filepath.Join(g.dir, g.peakFile))
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}

func (g *cgroup) remove() { _ = os.Remove(g.dir) }
