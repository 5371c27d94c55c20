package customer

import (
	"cmp"
	"context"
	"slices"

	"carteira/internal/platform/sqldb"
)

// A look reads a row or two of every segment for each gram. A phone, or a term that
// hardly anybody has, is found by one or two of its grams but for a few others, whose
// texts tell them apart. Which grams those are is seen in one segment.

// mostCandidates is how many texts are read at most. If more have the chosen grams,
// all grams are read.
const mostCandidates = 1000

// fewer is the same look by fewer grams, who has them being a candidate; nil: it
// needs them all.
func (l *look) fewer(ctx context.Context, querier sqldb.Querier, companyID int64) (*look, error) {
	if len(l.grams) < 2 || l.span.after > 0 { // a part of the segments is read as fast as the sample
		return nil, nil
	}
	sample, err := l.sampled, error(nil)
	if sample == nil {
		sample, err = l.sample(ctx, querier, companyID)
	}
	if err != nil || sample == nil {
		return nil, err
	}
	fewer := newLook(l.terms)
	fewer.span, fewer.first = l.span, l.first
	var matcher matcher
	for i, term := range l.long {
		fewer.long[i] = matcher.rarest(sample, term)
	}
	if fewer.grams = gramsOf(fewer.long); len(fewer.grams) == len(l.grams) {
		return nil, nil
	}
	return fewer, nil
}

// sample is what the newest segment has of the terms; nil: there is none.
func (l *look) sample(ctx context.Context, querier sqldb.Querier, companyID int64) (sample *gramSegment, err error) {
	err = sqldb.Planned(ctx, querier, gramsOfOne, []any{companyID, companyID, l.keys()}, func(row sqldb.Row) error {
		var of, key, last, moved int64
		var stored []byte
		if err := row.Scan(&of, &key, &stored, &last, &moved); err != nil {
			return err
		}
		if sample == nil {
			sample = &gramSegment{places: map[gram]places{}}
		}
		if stored == nil { // the segment has none of them
			return nil
		}
		for _, segment := range segmentsOf(of, stored, idSpan{last - 1, last}) {
			if of == last || reached(moved, key) {
				sample.add(gramRow{gram(key), segment.places}, l.grams)
			}
		}
		return nil
	})
	return sample, err
}

const gramsOfOne = `
	SELECT COALESCE(p.last_id, 0), COALESCE(p.gram, 0), p.places, g.last_id, g.moved FROM (
		SELECT block, last_id, moved FROM search_segments WHERE company_id = ? AND sealed ORDER BY last_id DESC LIMIT 1) g
	LEFT JOIN search_grams p ON p.company_id = ? AND p.last_id IN (g.block, g.last_id) AND p.gram {in ?}`

// number is how many customers of a segment have one of the terms; who has two counts
// twice.
func (s *gramSegment) number(terms []gramTerm) (n int64) {
	var matcher matcher
	for _, term := range terms {
		n += int64(len(matcher.distances(s, term)))
	}
	return n
}

// rarest are so many of the term's grams, the rarest first, that nobody of a segment
// has them; all, where somebody has.
func (m *matcher) rarest(sample *gramSegment, term gramTerm) gramTerm {
	ordered := slices.Clone(term)
	slices.SortStableFunc(ordered, func(a, b gramAt) int {
		return cmp.Compare(len(sample.places[a.gram]), len(sample.places[b.gram]))
	})
	for n := 1; n < len(ordered); n++ {
		if len(m.distances(sample, ordered[:n])) == 0 {
			return ordered[:n]
		}
	}
	return term
}

// readTexts finds the candidates, and of them those whose texts have a term; ok is
// false when they are too many.
func (l *look) readTexts(ctx context.Context, querier sqldb.Querier, companyID, most int64) (found hits, ok bool, err error) {
	found, err = l.readSegments(ctx, querier, companyID)
	if err != nil {
		return nil, false, err
	}
	count := found.count()
	if count > most {
		return nil, false, nil
	}
	contains, values := containsOne(querier.Engine(), textColumn, l.terms)
	source := among(companyID, found.page(0, count))
	source.Where.And(contains, values...)
	text, args := sqldb.Window{Source: source, Limit: count}.IDs()
	ids, err := sqldb.Values[int64](ctx, querier, text, args...)
	return hits{{ids: ids, number: int64(len(ids))}}, err == nil, err
}
