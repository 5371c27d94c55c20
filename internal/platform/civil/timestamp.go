package civil

import "time"

// Timestamp prints t as the API does: RFC 3339 in the company's zone, with a
// numeric offset, never Z.
func Timestamp(at time.Time, zone *time.Location) string {
	return string(AppendTimestamp(nil, at, zone))
}

// AppendTimestamp is Timestamp into a buffer. A list of fifty has a hundred of them,
// which took time.AppendFormat four times as long.
func AppendTimestamp(buf []byte, at time.Time, zone *time.Location) []byte {
	_, offset := at.In(zone).Zone()
	seconds := at.Unix() + int64(offset)
	if seconds < 0 || seconds >= firstSecondOf10000 {
		return appendFormatted(buf, at.In(zone))
	}
	year, month, day := fromEpoch(int(seconds / secondsPerDay))
	clock := int(seconds % secondsPerDay)
	buf = appendPair(appendPair(buf, year/100), year%100)
	buf = appendPair(append(buf, '-'), month)
	buf = appendPair(append(buf, '-'), day)
	buf = appendPair(append(buf, 'T'), clock/3600)
	buf = appendPair(append(buf, ':'), clock/60%60)
	buf = appendPair(append(buf, ':'), clock%60)
	return appendOffset(buf, offset)
}

const firstSecondOf10000 = 253402300800

// appendFormatted is for instants that no customer has.
func appendFormatted(buf []byte, local time.Time) []byte {
	buf = local.AppendFormat(buf, time.RFC3339) // whole seconds
	if last := len(buf) - 1; buf[last] == 'Z' {
		buf = append(buf[:last], "+00:00"...)
	}
	return buf
}

// appendOffset leaves seconds of an offset out, which zones had before there were zones.
func appendOffset(buf []byte, offset int) []byte {
	minutes, sign := offset/60, byte('+')
	if minutes < 0 {
		minutes, sign = -minutes, '-'
	}
	buf = appendPair(append(buf, sign), minutes/60)
	return appendPair(append(buf, ':'), minutes%60)
}

func appendPair(buf []byte, number int) []byte {
	return append(buf, digits[number/10], digits[number%10])
}

// fromEpoch is the day so many days after 1970-01-01. It counts years from March,
// so that a leap day is the last of its year: 146,097 days are 400 years, and five
// months from March or August on are 153 days.
func fromEpoch(days int) (year, month, day int) {
	days += 719468 // since the first of March of the year 0
	cycle, days := days/146097, days%146097
	year = (days - days/1460 + days/36524 - days/146096) / 365
	days -= 365*year + year/4 - year/100
	march := (5*days + 2) / 153
	day = days - (153*march+2)/5 + 1
	year += 400 * cycle
	if march < 10 {
		return year, march + 3, day
	}
	return year + 1, march - 9, day
}
