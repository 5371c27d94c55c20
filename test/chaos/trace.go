//go:build linux

package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// traced has a program write down in a file what it writes and flushes of the
// files of its database.
func traced(to, data string, argv ...string) ([]string, error) {
	if exec.Command("strace", "-D", "-f", "-qq", "-o", os.DevNull, "true").Run() != nil {
		return nil, skip("power cuts are rebuilt from what strace sees, which is not installed or not allowed")
	}
	file := filepath.Join(data, databaseFile)
	return append([]string{
		"strace", "-D", "-f", "-qq", "-y", "-xx", "-s", "1048576", "-ttt", "-T", "--seccomp-bpf", "-o", to,
		"-e", "trace=pwrite64,ftruncate,fsync,fdatasync", "-P", file, "-P", file + "-wal",
	}, argv...), nil
}

const databaseFile = "carteira.db"

// op is a write, a flush, or the cutting of a file.
type op struct {
	file       string
	flush      bool
	data       []byte // nil: the file is cut
	at         int64
	begin, end time.Time
}

var (
	tracedCall  = regexp.MustCompile(`^(\d+) +(\d+)\.(\d+) (\w+)\(\d+<([^>]*)>(.*)$`)
	tracedEnd   = regexp.MustCompile(`^(\d+) +(\d+)\.(\d+) <\.\.\. \w+ resumed>.*= (-?\d+)`)
	tracedDone  = regexp.MustCompile(`\) += (-?\d+).*<(\d+\.\d+)>$`)
	tracedWrite = regexp.MustCompile(`^, "((?:\\x[0-9a-f]{2})*)", \d+, (\d+)`)
	tracedCut   = regexp.MustCompile(`^, (\d+)`)
)

// readTrace reads what strace wrote, in the order in which it began. What failed
// is left out, and so is what did not end.
func readTrace(path string) (ops []op, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	open := map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if found := tracedEnd.FindStringSubmatch(lines.Text()); found != nil {
			if i, ok := open[found[1]]; ok && !strings.HasPrefix(found[4], "-") {
				ops[i].end = instant(found[2], found[3])
			}
			delete(open, found[1])
			continue
		}
		found := tracedCall.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		one, err := readOp(found[4], found[5], found[6])
		if err != nil {
			return nil, err
		}
		one.begin = instant(found[2], found[3])
		done := tracedDone.FindStringSubmatch(found[6])
		switch {
		case done == nil:
			open[found[1]] = len(ops)
		case !strings.HasPrefix(done[1], "-"):
			took, _ := strconv.ParseFloat(done[2], 64)
			one.end = one.begin.Add(time.Duration(took * float64(time.Second)))
		}
		ops = append(ops, one)
	}
	return ops, lines.Err()
}

func instant(seconds, micros string) time.Time {
	s, _ := strconv.ParseInt(seconds, 10, 64)
	m, _ := strconv.ParseInt(micros, 10, 64)
	return time.Unix(s, m*1000)
}

func unhex(text string) ([]byte, error) { return hex.DecodeString(strings.ReplaceAll(text, `\x`, "")) }

func readOp(call, path, args string) (one op, err error) {
	name, err := unhex(path)
	one.file = filepath.Base(string(name))
	switch call {
	case "fsync", "fdatasync":
		one.flush = true
	case "ftruncate":
		found := tracedCut.FindStringSubmatch(args)
		if found == nil {
			return one, errors.New("a cut that is not understood: " + args)
		}
		one.at, _ = strconv.ParseInt(found[1], 10, 64)
	case "pwrite64":
		found := tracedWrite.FindStringSubmatch(args)
		if found == nil {
			return one, errors.New("a write that is not understood")
		}
		if one.data, err = unhex(found[1]); one.data == nil {
			one.data = []byte{}
		}
		one.at, _ = strconv.ParseInt(found[2], 10, 64)
	}
	return one, err
}

// cut is what a power cut at a moment leaves of the files: all that was flushed,
// and of the rest what luck has it, in pieces of a sector.
func cut(before map[string][]byte, ops []op, at time.Time, luck *rand.Rand) map[string][]byte {
	flushed := map[string]time.Time{} // what ended until then is on the disk
	for _, one := range ops {
		if one.flush && !one.end.IsZero() && !one.end.After(at) {
			flushed[one.file] = one.begin
		}
	}
	const sector = 512
	after := map[string][]byte{}
	for name, text := range before {
		after[name] = append([]byte(nil), text...)
	}
	for _, one := range ops {
		if one.flush || one.begin.After(at) {
			continue
		}
		safe := !one.end.IsZero() && !one.end.After(flushed[one.file])
		switch {
		case one.data != nil && !safe:
			one.data = one.data[:min(len(one.data), sector*luck.IntN(len(one.data)/sector+2))]
		case !safe && luck.IntN(2) == 0:
			continue
		}
		after[one.file] = one.apply(after[one.file])
	}
	return after
}

func (o op) apply(text []byte) []byte {
	size := max(len(text), int(o.at)+len(o.data))
	if o.data == nil {
		size = int(o.at)
	}
	for len(text) < size {
		text = append(text, make([]byte, size-len(text))...)
	}
	text = text[:size]
	copy(text[min(int(o.at), size):], o.data)
	return text
}
