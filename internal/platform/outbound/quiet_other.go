//go:build !unix

package outbound

// quiet cannot be told here. A connection that has ended is noticed when the
// call gets no answer on it, and the call is made again.
func (l *line) quiet() bool { return true }
