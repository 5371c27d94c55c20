package customer

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"carteira/internal/platform/sqldb"
)

// A search reads a few keys of all segments. A row of each segment would take a page to
// read, and a segment that were written into rows of many would change all of them. So the
// grams of a segment are written as rows of its own, and those of many segments are moved
// to a block, which has one row for each key, some keys in a step. A segment that is
// sealed anew is moved to its block again, when many are, or at once if the block has
// letters of somebody who was deleted.
//
//	key <= moved   its block has what the segment has
//	key >  moved   the rows of its own have; the block has what was sealed before, or nothing

// How far a segment is moved, where it is no key.
const (
	toMove   = -1 // it is to be moved as soon as can be
	unmoved  = 0  // it may wait
	allMoved = math.MaxInt64
)

// rowsOfStep is about how many rows are written in a step.
const rowsOfStep = 640

// segmentRow is what the row of a key has of a segment.
type segmentRow struct {
	last   int64
	places places
}

// blockRow is the row of a key in a block, or one of them: of each segment how far its last
// id is from the one before, the length of what it has, and that.
type blockRow []byte

// newBlockRows are the rows of a key, none of which is longer than most if it has more
// than one segment.
func newBlockRows(segments []segmentRow, most int) (rows []blockRow) {
	slices.SortFunc(segments, func(a, b segmentRow) int { return cmp.Compare(a.last, b.last) })
	for len(segments) > 0 {
		to, size := 1, len(segments[0].places)
		for to < len(segments) && size+len(segments[to].places)+2*binary.MaxVarintLen64 <= most {
			size += len(segments[to].places) + 2*binary.MaxVarintLen64
			to++
		}
		rows, segments = append(rows, newBlockRow(segments[:to])), segments[to:]
	}
	return rows
}

func newBlockRow(segments []segmentRow) (row blockRow) {
	before := int64(0)
	for _, segment := range segments {
		row = binary.AppendUvarint(row, uint64(segment.last-before)) //nolint:gosec // they ascend
		row = binary.AppendUvarint(row, uint64(len(segment.places)))
		row = append(row, segment.places...)
		before = segment.last
	}
	return row
}

// segments are what the row has, by ascending ids. Where it was cut off, they end.
func (r blockRow) segments(span idSpan) (all []segmentRow) {
	rest, last := places(r), int64(0)
	for last < span.last && len(rest) > 0 {
		var ahead, length uint64
		ahead, rest = rest.cut()
		length, rest = rest.cut()
		length = min(length, uint64(len(rest)))
		if last += int64(ahead); last > span.after { //nolint:gosec // it was one
			all = append(all, segmentRow{last, rest[:length]})
		}
		rest = rest[length:]
	}
	return all
}

// segmentsOf are what the row of a segment or of a block has, of segments in a span.
func segmentsOf(of int64, stored []byte, span idSpan) []segmentRow {
	if of < 0 {
		return blockRow(stored).segments(span)
	}
	return []segmentRow{{of, stored}}
}

// moving is how far each segment is that is being moved to a block.
type moving map[int64]int64

// has tells whether the block has what a segment has of a key.
func (m moving) has(last, key int64) bool {
	moved, moves := m[last]
	return !moves || reached(moved, key)
}

// reached tells whether a segment that is moved so far has its key in the block.
func reached(moved, key int64) bool { return key <= moved }

// add takes in what a statement says: numbers of segments, each with how far it is.
func (m moving) add(partly string) {
	numbers := strings.Fields(partly)
	for at := 1; at < len(numbers); at += 2 {
		last, _ := strconv.ParseInt(numbers[at-1], 10, 64)
		m[last], _ = strconv.ParseInt(numbers[at], 10, 64)
	}
}

func (m moving) segments() []int64 { return slices.Collect(maps.Keys(m)) }

// merge does the next step of moving segments to blocks.
func (s sealer) merge(ctx context.Context, tx *sqldb.Tx, companyID int64) (sealing, error) {
	block, err := blockToMerge(ctx, tx, companyID, s.block)
	if err != nil {
		return sealingOver, err
	}
	if block != 0 {
		_, err := s.moveKeys(ctx, tx, companyID, block, rowsOfStep)
		return sealingGoesOn, err
	}
	segments, err := inNoBlock(ctx, tx, companyID, s.block)
	if err != nil || len(segments) < s.block {
		return sealingOver, err
	}
	return sealingGoesOn, beginBlock(ctx, tx, companyID, segments)
}

// eraseAround seals the segment anew that a customer was in, and moves it to its block in
// one go: no letter is left. The block is locked before anything of it is, so that nobody
// waits for somebody who waits for him.
func (s sealer) eraseAround(ctx context.Context, tx *sqldb.Tx, companyID, id int64) error {
	block, err := blockAround(ctx, tx, companyID, id)
	if block != 0 {
		_, err = lockBlock(ctx, tx, companyID, block)
	}
	if err != nil {
		return err
	}
	if err := sealAround(ctx, tx, companyID, id); err != nil {
		return err
	}
	block, err = blockAround(ctx, tx, companyID, id) // it may have come into one
	for left := block != 0; left && err == nil; {
		left, err = s.moveKeys(ctx, tx, companyID, block, rowsOfStep)
	}
	return err
}

// moveKeys moves the next keys of all segments that are not wholly in their block. It
// reports whether any are left.
func (s sealer) moveKeys(ctx context.Context, tx *sqldb.Tx, companyID, block int64, rows int64) (left bool, err error) {
	moving, err := lockBlock(ctx, tx, companyID, block)
	if err != nil || len(moving) == 0 {
		return false, err
	}
	step := keySpan{after: slices.Min(slices.Collect(maps.Values(moving)))}
	if step.last, err = lastOfKeys(ctx, tx, companyID, block, step.after, rows/int64(1+len(moving))); err != nil {
		return false, err
	}
	return step.last != allMoved, s.moveStep(ctx, tx, companyID, block, moving, step)
}

func (s sealer) moveStep(ctx context.Context, tx *sqldb.Tx, companyID, block int64, moving moving, step keySpan) error {
	rows := map[int64][]segmentRow{}
	moved := append(moving.segments(), block)
	err := eachOfKeys(ctx, tx, companyID, moved, step, func(of, key int64, stored []byte) {
		row := segmentsOf(of, stored, everyone)
		if of == block {
			row = slices.DeleteFunc(row, func(of segmentRow) bool { return !moving.has(of.last, key) })
		}
		rows[key] = append(rows[key], row...)
	})
	if err != nil {
		return err
	}
	if err := dropKeys(ctx, tx, companyID, moved, step); err != nil {
		return err
	}
	if err := writeBlock(ctx, tx, companyID, block, rows, s.row); err != nil {
		return err
	}
	return setMoved(ctx, tx, companyID, moving.segments(), step.last)
}
