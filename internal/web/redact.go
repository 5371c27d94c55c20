package web

import "strings"

// redacted is what the log has in the place of a key.
const redacted = "…"

// keyed are the first segments of paths that carry a key, with how many
// segments stand before it. They are redacted however short they are and
// whatever else is wrong with the path, since a near miss (a trailing slash,
// another method, a doubled slash) is refused before the handler that knows its
// key is asked.
var keyed = map[string]int{
	"password": 0, "setup": 0, "email": 0, "pay": 0, "signup": 0, "gateways": 1, "my": 0, "unsubscribe": 0, "channels": 1,
}

// minKey is the shortest run of characters that can be one of our keys.
const minKey = 16

// redactPath is a path for the access log: without password links, checkout
// codes, keys of callback addresses and tokens.
func redactPath(path string) string {
	if isPlain(path) {
		return path
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = redactRuns(part)
	}
	for i, part := range parts {
		before, found := keyed[wordOf(part)]
		if !found {
			continue
		}
		redactAfter(parts[i+1:], before)
		break
	}
	return strings.Join(parts, "/")
}

// isPlain reports whether no segment of a path can be a key, or have one after it:
// most paths are plain.
func isPlain(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if _, found := keyed[wordOf(part)]; found || len(part) >= minKey {
			return false
		}
	}
	return true
}

func wordOf(part string) string { return strings.ToLower(strings.TrimSpace(part)) }

// redactAfter redacts the first segment after as many that are none of the
// key's. Empty segments come from doubled slashes.
func redactAfter(parts []string, before int) {
	for i, part := range parts {
		switch {
		case part == "":
		case before > 0:
			before--
		default:
			parts[i] = redacted
			return
		}
	}
}

// redactRuns replaces what has the shape of a key: a long run of letters and
// digits that no word of a path has. Ids that are public stay.
func redactRuns(segment string) string {
	var kept strings.Builder
	for segment != "" {
		run := strings.IndexFunc(segment, func(c rune) bool { return !inKey(c) })
		if run < 0 {
			run = len(segment)
		}
		if run == 0 {
			next := strings.IndexFunc(segment, inKey)
			if next < 0 {
				next = len(segment)
			}
			kept.WriteString(segment[:next])
			segment = segment[next:]
			continue
		}
		if word := segment[:run]; isKey(word) {
			kept.WriteString(redacted)
		} else {
			kept.WriteString(word)
		}
		segment = segment[run:]
	}
	return kept.String()
}

func inKey(c rune) bool {
	return c >= 'a' && c <= 'z' ||
		c >= 'A' && c <= 'Z' ||
		c >= '0' && c <= '9' ||
		c == '_' ||
		c == '-'
}

// isKey reports whether a run has the shape of a key. Words of paths are in
// small letters; event ids and UUIDs open nothing.
func isKey(run string) bool {
	if len(run) < minKey || strings.ToLower(run) == run && !strings.ContainsAny(run, "0123456789") {
		return false
	}
	return !isEventID(run) && !isUUID(run) && strings.Trim(run, "0123456789") != ""
}

func isEventID(run string) bool {
	rest, event := strings.CutPrefix(run, "evt_")
	return event && len(rest) == 26 && strings.ToUpper(rest) == rest
}

func isUUID(run string) bool {
	if len(run) != 36 {
		return false
	}
	for i, c := range run {
		switch dash := i == 8 || i == 13 || i == 18 || i == 23; {
		case dash != (c == '-'):
			return false
		case !dash && !strings.ContainsRune("0123456789abcdef", c):
			return false
		}
	}
	return true
}
