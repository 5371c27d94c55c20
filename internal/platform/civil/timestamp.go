package civil

import "time"

// Timestamp prints t as the API does: RFC 3339 in the company's zone, with a
// numeric offset, never Z.
func Timestamp(t time.Time, zone *time.Location) string { return string(AppendTimestamp(nil, t, zone)) }

// AppendTimestamp is Timestamp into a buffer.
func AppendTimestamp(b []byte, t time.Time, zone *time.Location) []byte {
	b = t.In(zone).AppendFormat(b, time.RFC3339) // whole seconds
	if last := len(b) - 1; b[last] == 'Z' {
		b = append(b[:last], "+00:00"...)
	}
	return b
}
