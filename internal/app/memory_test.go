package app

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestMemoryLimitIsTheLeastOfTheCgroups(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, tt := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"no Linux": {fstest.MapFS{}, math.MaxInt64},
		"version 2": {fstest.MapFS{
			"proc/self/cgroup": file("0::/system.slice/carteira.service\n"),
			"sys/fs/cgroup/system.slice/carteira.service/memory.max": file("100663296\n"),
			"sys/fs/cgroup/system.slice/memory.max":                  file("max\n"),
		}, 96 << 20},
		"a parent is narrower": {fstest.MapFS{
			"proc/self/cgroup":                        file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/memory.max":            file("max\n"),
			"sys/fs/cgroup/a/memory.max":              file("67108864\n"),
			"sys/fs/cgroup/memory/memory.max":         file("1\n"),
			"sys/fs/cgroup/unrelated/path/memory.max": file("1\n"),
		}, 64 << 20},
		"in a container, by the host's path": {fstest.MapFS{
			"proc/self/cgroup":         file("0::/docker/0123\n"),
			"sys/fs/cgroup/memory.max": file("134217728\n"),
		}, 128 << 20},
		"version 1": {fstest.MapFS{
			"proc/self/cgroup": file("5:cpu,cpuacct:/x\n4:memory:/docker/0123\n0::/\n"),
			"sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes": file("134217728\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":             file("9223372036854771712\n"),
		}, 128 << 20},
		"no limit": {fstest.MapFS{
			"proc/self/cgroup":                           file("4:memory:/\n0::/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, math.MaxInt64},
		"nonsense": {fstest.MapFS{
			"proc/self/cgroup":         file("what\n0::/\n"),
			"sys/fs/cgroup/memory.max": file("a lot\n"),
		}, math.MaxInt64},
	} {
		if got := memoryLimit(tt.files); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
