package sqldb

import (
	"database/sql/driver"
	"fmt"
	"sync"
)

// LateText is a text of a put-off row that is made when its transaction has had
// its turn: SQLite has one writer, and while a transaction has it all others
// wait. It is made by the caller of Write, beside the next transaction, or where
// the row is written before that.
type LateText struct {
	once  sync.Once
	build func() (string, error)
	text  string
	err   error
}

// LateText puts off the making of a text that is a value of Append. What build
// reads must not change any more.
func (tx *Tx) LateText(build func() (string, error)) *LateText {
	late := &LateText{build: build}
	tx.late.texts = append(tx.late.texts, late)
	return late
}

func (t *LateText) get() (string, error) {
	t.once.Do(func() {
		// A panic may happen in the goroutine of another, to whom it does not belong.
		defer func() {
			if cause := recover(); cause != nil {
				t.err = fmt.Errorf("make a text of a row: %v", cause)
			}
		}()
		t.text, t.err = t.build()
	})
	return t.text, t.err
}

// Value is the text for a database.
func (t *LateText) Value() (driver.Value, error) { return t.get() }

// lateTexts are made once the turn is over.
type lateTexts []*LateText

// build makes the texts. An error belongs to the statement that writes the row.
func (l lateTexts) build() {
	for _, late := range l {
		_, _ = late.get()
	}
}
