package sender

import (
	"context"
	"fmt"
	"runtime/debug"
)

// guard makes a call with a deadline and turns a panic into an error.
func guard(ctx context.Context, call func(context.Context) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return call(ctx)
}
