package customer

import (
	"context"
	"sync"

	"carteira/internal/platform/sqldb"
	"carteira/internal/tally"
)

// traitCache keeps in memory who has a trait. What is kept is never older than the
// database: each bucket has a stamp, and one whose stamp is another is read anew. The
// zero traitCache is ready.
type traitCache struct {
	mu    sync.Mutex
	known map[traitKey]traitKept
	size  int64 // of the sets
}

type traitKey struct {
	company int64
	what    string
}

type traitKept struct {
	set    idSet
	stamps tally.Stamps // from before the set was read
}

const (
	// mostTraits bounds the memory, in bytes; past it all are read again. A trait takes
	// up to 140 KB of a company of a million.
	mostTraits = 4 << 20
	// leastInBucket is how many customers a company has in a bucket, on average, for its
	// stamps to be read. Where others have most of the ids there are too many buckets.
	leastInBucket = 32
	// mostChanged is up to how many buckets are read one by one.
	mostChanged = 16
)

// meet leaves those of the found customers who have all traits.
func (c *traitCache) meet(ctx context.Context, querier sqldb.Querier, found idSet, traits []trait, company int64) (idSet, error) {
	if len(traits) == 0 {
		return found, nil
	}
	stamps, dense, err := counter.Stamps(ctx, querier, traits[0].listing.company, company/leastInBucket)
	if err != nil {
		return idSet{}, err
	}
	if !dense {
		stamps = nil
	}
	for _, trait := range traits {
		having, err := c.read(ctx, querier, trait, stamps)
		if err != nil {
			return idSet{}, err
		}
		if trait.without {
			found = found.without(having)
		} else {
			found = found.only(having)
		}
	}
	return found, nil
}

// read finds who has a trait at the time of the stamps, or later. Without stamps
// nothing is kept.
func (c *traitCache) read(ctx context.Context, querier sqldb.Querier, trait trait, stamps tally.Stamps) (set idSet, err error) {
	if stamps == nil {
		return trait.read(ctx, querier)
	}
	key := traitKey{trait.listing.company, trait.listing.question().What}
	kept, known := c.get(key)
	var changed []int64
	if known {
		if changed = stamps.ChangedSince(kept.stamps); len(changed) == 0 {
			return kept.set, nil
		}
	}
	if few := min(mostChanged, kept.set.number/tally.BucketSize+1); !known || int64(len(changed)) > few {
		set, err = trait.read(ctx, querier)
	} else {
		set, err = trait.reread(ctx, querier, kept.set, changed)
	}
	if err == nil {
		c.put(key, traitKept{set, stamps})
	}
	return set, err
}

// reread is a set of which some buckets are read anew.
func (t trait) reread(ctx context.Context, querier sqldb.Querier, set idSet, buckets []int64) (idSet, error) {
	groups := map[int64]idGroup{}
	for _, bucket := range buckets {
		group, err := t.readBucket(ctx, querier, bucket)
		if err != nil {
			return idSet{}, err
		}
		groups[bucket] = group
	}
	return set.replaced(groups), nil
}

func (c *traitCache) get(key traitKey) (kept traitKept, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, known = c.known[key]
	return kept, known
}

func (c *traitCache) put(key traitKey, kept traitKept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size += kept.set.size() - c.known[key].set.size()
	if c.known == nil || c.size > mostTraits {
		c.known, c.size = map[traitKey]traitKept{}, kept.set.size()
	}
	c.known[key] = kept
}
