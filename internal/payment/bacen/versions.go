package bacen

import (
	"maps"
	"regexp"
	"strings"

	"carteira/internal/payment/wire"
)

// versions are versions of a bank's API by resource: "/cob" is the list and the single
// charge, "/cob/" the single charge alone.
type versions map[string]string

// readVersions reads what a company says of its bank, such as "cob/=v3 rec=v1".
func readVersions(options *wire.Options) versions {
	given := versions{}
	for part := range strings.FieldsSeq(strings.ReplaceAll(options.Text("versions"), ",", " ")) {
		match := versionOf.FindStringSubmatch(part)
		if match == nil {
			options.Refuse("versions", "must be resources with their versions, such as cob/=v3 rec=v1")
			continue
		}
		given["/"+match[1]] = match[2]
	}
	return given
}

var (
	versionOf   = regexp.MustCompile(`^/?([a-z]+/?)=(v[0-9]{1,2})$`)
	lastVersion = regexp.MustCompile(`/v[0-9]+$`)
)

// with are these versions, where others do not say otherwise.
func (v versions) with(others versions) versions {
	all := maps.Clone(others)
	for resource, version := range v {
		if _, said := all[resource]; !said {
			all[resource] = version
		}
	}
	return all
}

// of is the version of the resource that a path names; "" where it has none of its own.
func (v versions) of(path string) string {
	resource, rest, single := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if version, ok := v["/"+resource+"/"]; ok && single && rest != "" {
		return version
	}
	return v["/"+resource]
}

// base is what the address of a path begins with: that of the bank, in the version of
// the path's resource.
func (v versions) base(usual, path string) string {
	version := v.of(path)
	if version == "" || !lastVersion.MatchString(usual) {
		return usual
	}
	return lastVersion.ReplaceAllString(usual, "/"+version)
}
