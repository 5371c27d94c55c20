package outbound

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var errHeader = errors.New("invalid header")

// maxPooled bounds the buffers that are kept for the next request.
const maxPooled = 64 << 10

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func takeBuffer() *bytes.Buffer { return buffers.Get().(*bytes.Buffer) }

func giveBuffer(buffer *bytes.Buffer) {
	if buffer.Cap() <= maxPooled {
		buffer.Reset()
		buffers.Put(buffer)
	}
}

// write writes a request as net/http does: the host first, then what is the
// client's own, then the given headers in the order of their names. It is
// written once for all addresses that are tried, and sent in one piece.
func (c *Client) write(to *bytes.Buffer, target target, given call) error {
	writeAll(to, given.method, " ", target.uri, " HTTP/1.1\r\nHost: ", target.hostPort, "\r\n")
	agent := c.userAgent
	if agent == "" {
		agent = given.header.Get("User-Agent")
	}
	if agent != "" {
		if err := writeHeader(to, "User-Agent", agent); err != nil {
			return err
		}
	}
	if given.method != http.MethodGet {
		writeAll(to, "Content-Length: ", strconv.Itoa(len(given.body)), "\r\n")
	}
	if err := writeHeaders(to, given.header); err != nil {
		return err
	}
	if c.once {
		writeAll(to, "Connection: close\r\n")
	}
	writeAll(to, "\r\n")
	to.Write(given.body)
	return nil
}

// ours are the headers that the client alone decides.
var ours = []string{"Accept-Encoding", "Connection", "Content-Length", "Host", "Trailer", "Transfer-Encoding", "User-Agent"}

const encoding = "Accept-Encoding"

func writeHeaders(to *bytes.Buffer, header http.Header) error {
	names := make([]string, 1, 16)
	names[0] = encoding
	for name := range header {
		if _, own := slices.BinarySearch(ours, name); !own {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		values := header[name]
		if name == encoding {
			values = identity
		}
		for _, value := range values {
			if err := writeHeader(to, name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

var identity = []string{"identity"}

// writeHeader refuses what would end the header's line: some values are what
// customers typed.
func writeHeader(to *bytes.Buffer, name, value string) error {
	if name == "" || !isToken(name) || hasControl(value) {
		return errHeader
	}
	writeAll(to, name, ": ", strings.Trim(value, " \t"), "\r\n")
	return nil
}

func isToken(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c != '-' && !isLetterOrDigit(c) && strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

func hasControl(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

func writeAll(to *bytes.Buffer, texts ...string) {
	for _, text := range texts {
		to.WriteString(text)
	}
}
