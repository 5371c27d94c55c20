package sqldb

import "context"

// What follows keeps nothing any more. It stays for its callers in the search of
// customers, and goes with them.

// Brief is One.
func Brief[T any](ctx context.Context, querier Querier, scan func(Row) (T, error), text string, args ...any) (T, error) {
	return One(ctx, querier, scan, text, args...)
}

// Recall knows nothing.
func Recall[T any](context.Context, any) (value T, known bool) { return value, false }

// Remember keeps nothing.
func Remember(context.Context, any, any) {}
