package customer

import "math/bits"

// only leaves those who are in another set, too.
func (s idSet) only(other idSet) (met idSet) {
	rest := other.groups
	for _, group := range s.groups {
		for len(rest) > 0 && rest[0].bucket > group.bucket {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0].bucket == group.bucket {
			met.append(group.only(rest[0]))
		}
	}
	return met
}

func (g idGroup) only(other idGroup) idGroup {
	met := idGroup{bucket: g.bucket}
	if g.bits == nil {
		for _, place := range g.few {
			if other.has(place) {
				met.few = append(met.few, place)
			}
		}
		met.number = int64(len(met.few))
		return met
	}
	of := other.allBits()
	met.bits = &idBits{}
	for at := range of {
		word := g.bits[at] & of[at]
		met.bits[at], met.number = word, met.number+int64(bits.OnesCount64(word))
	}
	return met
}

// allBits are those of a group that has few, too.
func (g idGroup) allBits() *idBits {
	if g.bits != nil {
		return g.bits
	}
	bits := &idBits{}
	for _, place := range g.few {
		bits.add(place)
	}
	return bits
}
