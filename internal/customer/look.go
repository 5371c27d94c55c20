package customer

import (
	"context"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"carteira/internal/platform/sqldb"
)

// look is one look for customers by the terms of a search, and what it has read.
type look struct {
	terms []string
	short []string   // those of one or two letters
	long  []gramTerm // the others
	grams []gram     // all of those
	cut   bool       // a term has more: who has these may be another
	span  idSpan     // whom it looks at
	first bool       // only the first are wanted

	sampled *gramSegment // what the newest segment has of the terms; nil: it is not read yet

	sealed   int64                  // the last id that is in a sealed segment
	segments map[int64]*segmentRead // by the last id of each that has something
	moving   moving                 // those that are not wholly in their block
	changed  map[int64]bool         // who has changed since: whether the text of now has a term
	newer    []int64                // who is in no segment and has one
	matching *matching              // nil: segments are searched when all are read
	late     []lateRow              // read after the others of its block
}

// lateRow is a row of a block, or of a segment by itself.
type lateRow struct {
	of, key int64
	stored  []byte
}

// segmentRead is what a segment has of the terms.
type segmentRead struct {
	postings []posting
	grams    gramSegment
	open     bool    // it is being searched
	matched  bool    // it was
	found    posting // by its grams
}

// idSpan is the customers whose ids are above one and up to another.
type idSpan struct{ after, last int64 }

var everyone = idSpan{0, math.MaxInt64}

func (s idSpan) has(id int64) bool { return id > s.after && id <= s.last }

func newLook(terms []string) *look {
	l := &look{terms: terms, span: everyone, segments: map[int64]*segmentRead{}, moving: moving{}, changed: map[int64]bool{}}
	for _, term := range terms {
		if !sqldb.IndexedTerm(term) {
			l.short = append(l.short, term)
			continue
		}
		grams := newGramTerm(term)
		if most := mostGrams / len(terms); len(grams) > most {
			grams, l.cut = grams[:most], true
		}
		l.long = append(l.long, grams)
	}
	l.grams = gramsOf(l.long)
	return l
}

// gramsOf are the grams of some terms.
func gramsOf(terms []gramTerm) (grams []gram) {
	for _, term := range terms {
		for _, at := range term {
			grams = append(grams, at.gram)
		}
	}
	slices.Sort(grams)
	return slices.Compact(grams)
}

// keys are those of the rows that may have a gram.
func (l *look) keys() []int64 {
	keys := make([]int64, 0, 2*len(l.grams))
	for _, gram := range l.grams {
		keys = append(keys, int64(gram.pair()), int64(gram))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// scan reads a row. It gives up at the first one when too little is sealed.
func (l *look) scan(row sqldb.Row) error {
	var kind, id, key int64
	var stored []byte
	var partly string
	if err := row.Scan(&kind, &id, &key, &stored, &partly); err != nil {
		return err
	}
	switch kind {
	case rowSealed:
		l.sealed = id
		if len(l.long) > 0 && (id == 0 || l.first && key >= mostNewer) {
			return errUnsealed
		}
	case rowPosting:
		if segment := l.segment(id); stored != nil { // somebody has the term
			segment.postings = append(segment.postings, stored)
		}
	case rowGrams:
		l.moving.add(partly)
		l.addGrams(id, key, stored)
	case rowNewer:
		l.newer = append(l.newer, id)
	default:
		l.changed[id] = kind == rowChangedTo
	}
	return nil
}

// addGrams takes in the row that a segment or a block has of a key.
func (l *look) addGrams(of, key int64, stored []byte) {
	if !l.matching.next(of) {
		l.late = append(l.late, lateRow{of, key, stored})
		return
	}
	for _, row := range segmentsOf(of, stored, l.span) {
		if of < 0 && !l.moving.has(row.last, key) {
			continue
		}
		segment := l.segment(row.last)
		segment.grams.add(gramRow{gram(key), row.places}, l.grams)
		segment.matched = false
		if _, moves := l.moving[row.last]; !moves {
			l.matching.add(segment)
		}
	}
}

func (l *look) segment(last int64) *segmentRead {
	segment := l.segments[last]
	if segment == nil {
		segment = &segmentRead{grams: gramSegment{places: map[gram]places{}}}
		l.segments[last] = segment
	}
	return segment
}

// read finds the customers. errUnsealed says that it is not the way.
func (l *look) read(ctx context.Context, querier sqldb.Querier, companyID int64) (hits, error) {
	fewer, err := l.fewer(ctx, querier, companyID)
	if err != nil {
		return nil, err
	}
	if fewer != nil {
		if found, ok, err := fewer.readTexts(ctx, querier, companyID, mostCandidates); err != nil || ok {
			return found, err
		}
	}
	if l.cut {
		found, _, err := l.readTexts(ctx, querier, companyID, math.MaxInt64)
		return found, err
	}
	return l.readSegments(ctx, querier, companyID)
}

// readSegments finds those who have all grams that the look has.
func (l *look) readSegments(ctx context.Context, querier sqldb.Querier, companyID int64) (hits, error) {
	if err := l.readRows(ctx, querier, companyID); err != nil {
		return nil, err
	}
	found := l.hits()
	if l.span != everyone {
		found = found.only(l.span.has)
	}
	return found, nil
}

func (l *look) readRows(ctx context.Context, querier sqldb.Querier, companyID int64) error {
	text, args := l.statement(querier.Engine(), companyID)
	return l.whileMatching(func() error { return sqldb.Planned(ctx, querier, text, args, l.scan) })
}

// whileMatching reads rows, and has the segments searched whose rows were all read.
func (l *look) whileMatching(read func() error) error {
	if len(l.long) == 1 {
		l.matching = match(l.long[0])
	}
	err := func() error {
		defer l.matching.end()
		return read()
	}()
	l.matching = nil
	for _, row := range l.late {
		l.addGrams(row.of, row.key, row.stored)
	}
	return err
}

// hits puts together what was read.
func (l *look) hits() hits {
	l.segment(l.sealed) // for who has changed behind all that have something
	lasts := slices.Sorted(maps.Keys(l.segments))
	changed := l.changedBySegment(lasts)
	slices.SortFunc(l.newer, newestFirst)
	found := make(hits, 1+len(lasts))
	found[0] = hitGroup{ids: l.newer, number: int64(len(l.newer))}
	slices.Reverse(lasts)
	inParts(len(lasts), func(from, to int) {
		var matcher matcher
		for at := from; at < to; at++ {
			found[1+at] = l.group(&matcher, lasts[at], changed[lasts[at]])
		}
	})
	return found
}

// leastInPart is how many segments are searched in less time than another processor
// takes to begin.
const leastInPart = 32

// inParts does what is to be done from 0 to n, on as many processors as there are. A
// panic of any part is the caller's: in a goroutine of its own it would end the process.
func inParts(n int, do func(from, to int)) {
	parts := max(1, min(runtime.GOMAXPROCS(0), n/leastInPart))
	panics := make([]any, parts)
	var all sync.WaitGroup
	for part := 1; part < parts; part++ {
		all.Go(func() {
			defer func() { panics[part] = recover() }()
			do(n*part/parts, n*(part+1)/parts)
		})
	}
	func() {
		defer all.Wait()
		do(0, n/parts)
	}()
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
}

// changedBySegment leaves out who changed in a segment that is not sealed yet: he
// is among the newer ones. Who changed in a segment that has nothing is taken for one
// of the next that has.
func (l *look) changedBySegment(lasts []int64) map[int64][]int64 {
	by := map[int64][]int64{}
	for id := range l.changed {
		if at, _ := slices.BinarySearch(lasts, id); at < len(lasts) {
			by[lasts[at]] = append(by[lasts[at]], id)
		}
	}
	return by
}

// group is what was found in a segment of which some have changed.
func (l *look) group(matcher *matcher, last int64, changed []int64) hitGroup {
	found := l.segments[last].have(matcher, l.long)
	if len(changed) == 0 {
		return hitGroup{last: last, posting: found, number: found.count()}
	}
	ids := slices.DeleteFunc(found.ids(last), func(id int64) bool { return slices.Contains(changed, id) })
	for _, id := range changed {
		if l.changed[id] {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, newestFirst)
	return hitGroup{last: last, ids: ids, number: int64(len(ids))}
}

// have is who of a segment has one of the terms, of which the short ones have postings.
func (s *segmentRead) have(matcher *matcher, long []gramTerm) (found posting) {
	for _, posting := range s.postings {
		found = found.or(posting)
	}
	for _, term := range long {
		found = found.or(s.match(matcher, term))
	}
	return found
}

// match is who of a segment has a term.
func (s *segmentRead) match(matcher *matcher, term gramTerm) posting {
	if s.matched {
		return s.found
	}
	return newPosting(matcher.distances(&s.grams, term))
}

// containsOne is the condition that a text contains one of the terms.
func containsOne(engine sqldb.Engine, column string, terms []string) (condition string, values []any) {
	parts := make([]string, len(terms))
	for i, term := range terms {
		parts[i] = sqldb.Contains(engine, column)
		values = append(values, term)
	}
	return "(" + strings.Join(parts, " OR ") + ")", values
}
