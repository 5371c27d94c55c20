package input

import "testing"

func TestOptTellsAbsentNullAndValueApart(t *testing.T) {
	tests := []struct {
		name                  string
		opt                   Opt[int]
		given, hasValue, null bool
		to, or                int
	}{
		{"absent", Opt[int]{}, false, false, false, 7, 9},
		{"null", Null[int](), true, false, true, 0, 9},
		{"zero", Some(0), true, true, false, 0, 0},
		{"value", Some(3), true, true, false, 3, 3},
	}
	for _, tt := range tests {
		opt, to := tt.opt, 7
		opt.To(&to)
		if opt.Given() != tt.given || opt.HasValue() != tt.hasValue || opt.IsNull() != tt.null || to != tt.to || opt.Or(9) != tt.or {
			t.Errorf("%s: given %v, value %v, null %v, to %d, or %d", tt.name, opt.Given(), opt.HasValue(), opt.IsNull(), to, opt.Or(9))
		}
	}
}
