package intake

import (
	"fmt"
	"runtime"
	"testing"
)

func TestWhatAHundredThousandRowsHaveTakesAFewMegabytes(t *testing.T) {
	met := firstLines{}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range maxRemembered {
		field, value := fmt.Sprint("field", i%5), fmt.Sprint("value ", i/5)
		if line := met.line(field, value); line != 0 {
			t.Fatalf("%s %s is said to be in line %d", field, value, line)
		}
		met.note(field, value, i+1)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := after.HeapAlloc - before.HeapAlloc; after.HeapAlloc > before.HeapAlloc && held > 40<<20 {
		t.Errorf("%d MiB are held", held>>20)
	}
	if line := met.line("field2", "value 7"); line != 38 {
		t.Errorf("met in line %d", line)
	}
	met.note("field2", "value 7", 1000)
	if line := met.line("field2", "value 7"); line != 38 || met.line("field3", "other") != 0 || met.line("field1", "") != 0 {
		t.Errorf("met in line %d", line)
	}
	runtime.KeepAlive(&met)
}
