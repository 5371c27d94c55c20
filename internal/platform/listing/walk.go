package listing

// WalkBatch is how many rows a step of Walk reads: what is in memory does not grow
// with the table.
const WalkBatch = 500

// Walk calls visit for every row of a list. A step reads at most WalkBatch rows,
// those that come after the last of the step before (nil: from the beginning), so
// that what is made meanwhile pushes none over an edge. No transaction is open
// while visit runs: a slow reader delays no one.
func Walk[T any](next func(last *T) ([]T, error), visit func(T) error) error {
	var last *T
	for {
		batch, err := next(last)
		if err != nil {
			return err
		}
		for _, row := range batch {
			if err := visit(row); err != nil {
				return err
			}
		}
		if len(batch) < WalkBatch {
			return nil
		}
		last = &batch[len(batch)-1]
	}
}
