package civil

import "time"

// Timestamp prints t as the API does: RFC 3339 in the company's zone, with a
// numeric offset, never Z.
func Timestamp(at time.Time, zone *time.Location) string {
	return string(AppendTimestamp(nil, at, zone))
}

// AppendTimestamp is Timestamp into a buffer.
func AppendTimestamp(buf []byte, at time.Time, zone *time.Location) []byte {
	buf = at.In(zone).AppendFormat(buf, time.RFC3339) // whole seconds
	if last := len(buf) - 1; buf[last] == 'Z' {
		buf = append(buf[:last], "+00:00"...)
	}
	return buf
}
