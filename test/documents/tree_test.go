package documents

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const largestFile = 2 << 20

// programs are what the first bytes of a compiled program or library look like: ELF, Windows, macOS in both byte
// orders and as one file for several processors, WebAssembly, ar archives.
var programs = [][]byte{
	[]byte("\x7fELF"), []byte("MZ"), []byte("\xcf\xfa\xed\xfe"), []byte("\xce\xfa\xed\xfe"), []byte("\xfe\xed\xfa\xcf"),
	[]byte("\xca\xfe\xba\xbe"), []byte("\x00asm"), []byte("!<arch>\n"),
}

// checkTracked says what is wrong with committing a file.
func checkTracked(name string, size int64, head []byte) []string {
	var problems []string
	if size > largestFile {
		problems = append(problems, fmt.Sprintf("%s has %d bytes, more than %d", name, size, largestFile))
	}
	for _, magic := range programs {
		if bytes.HasPrefix(head, magic) {
			problems = append(problems, name+" is a compiled program")
		}
	}
	return problems
}

// trackedFiles are the files in the index of git.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
}

func TestTreeHasNoProgramsAndNoLargeFiles(t *testing.T) {
	for _, name := range trackedFiles(t) {
		file, err := os.Open(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 8)
		n, _ := file.Read(head) // an empty file has no head
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if info.Mode().IsRegular() {
			report(t, name, checkTracked(name, info.Size(), head[:n]))
		}
	}
}

func TestAProgramOrALargeFileIsFound(t *testing.T) {
	wantProblems(t, checkTracked("a.go", 10, []byte("package ")))
	wantProblems(t, checkTracked("release", 10, []byte("\x7fELF\x02\x01")), "release is a compiled program")
	wantProblems(t, checkTracked("data.csv", largestFile+1, []byte("name;pho")), "data.csv has 2097153 bytes")
}
