package housetest

import (
	"reflect"
	"testing"
)

// EachField calls found with records of T that have one exported field of full
// filled and the rest zero, and complains where found does not see the field.
// A field among the exceptions, each with its reason, must not be seen: an
// exception that is none is an error too. A field that full leaves zero is one,
// so that a new field cannot be passed over.
func EachField[T any](tb testing.TB, full T, exceptions map[string]string, found func(T) bool, complaint string) {
	tb.Helper()
	source := reflect.ValueOf(full)
	kind := source.Type()
	known := map[string]bool{}
	for i := range kind.NumField() {
		name := kind.Field(i).Name
		known[name] = true
		switch {
		case !kind.Field(i).IsExported():
			continue
		case source.Field(i).IsZero():
			tb.Errorf("%s.%s: the full record of the test leaves it empty", kind.Name(), name)
			continue
		}
		var one T
		reflect.ValueOf(&one).Elem().Field(i).Set(source.Field(i))
		_, excepted := exceptions[name]
		if seen := found(one); seen == excepted {
			tb.Errorf("%s.%s: %s (seen %t, excepted %t)", kind.Name(), name, complaint, seen, excepted)
		}
	}
	for name := range exceptions {
		if !known[name] {
			tb.Errorf("%s is an exception and no field of %s", name, kind.Name())
		}
	}
}
