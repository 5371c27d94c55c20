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
		o, to := tt.opt, 7
		o.To(&to)
		if o.Given() != tt.given || o.HasValue() != tt.hasValue || o.IsNull() != tt.null || to != tt.to || o.Or(9) != tt.or {
			t.Errorf("%s: given %v, value %v, null %v, to %d, or %d", tt.name, o.Given(), o.HasValue(), o.IsNull(), to, o.Or(9))
		}
	}
}
