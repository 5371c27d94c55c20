package civil

import (
	"errors"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a container or a Windows machine may have no zone files of its own
)

// ErrZone is the reason for which a zone's name is refused, fit to stand beside a field.
var ErrZone = errors.New("must be a time zone such as America/Sao_Paulo")

var zones sync.Map // name → *time.Location; only names that exist get in, so it stays small

// LoadZone finds the zone of an IANA name. It refuses names that mean this machine's own zone, since due dates
// must not depend on where the program runs, and names that are spelled like paths.
func LoadZone(name string) (*time.Location, error) {
	if loc, ok := zones.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if !zoneName(name) {
		return nil, ErrZone
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, ErrZone
	}
	first, _ := zones.LoadOrStore(name, loc)
	return first.(*time.Location), nil
}

const zoneCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits + "_+-"

func zoneName(name string) bool {
	area, _, _ := strings.Cut(name, "/")
	switch area {
	case "Local", "localtime", "posixrules": // this machine's own zone
		return false
	case "posix", "right": // the same zones once more; those of right count leap seconds, which Go does not
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.Trim(part, zoneCharacters) != "" {
			return false
		}
	}
	return true
}
