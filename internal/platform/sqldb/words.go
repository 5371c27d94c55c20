package sqldb

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// Words is a list of words in one column: ",api,webhooks,". Every word has a
// comma on either side, so that a statement finds one with LIKE '%,word,%'. A
// word has no comma in it, and is not empty. The empty list is ",".
type Words []string

// String is the list as the column has it.
func (w Words) String() string {
	var out strings.Builder
	out.WriteByte(',')
	for _, word := range w {
		out.WriteString(word)
		out.WriteByte(',')
	}
	return out.String()
}

// ParseWords reads what String wrote. The text "" is an empty list too.
func ParseWords(stored string) Words {
	list := Words{}
	for word := range strings.SplitSeq(stored, ",") {
		if word != "" {
			list = append(list, word)
		}
	}
	return list
}

// Value stores the list.
func (w Words) Value() (driver.Value, error) { return w.String(), nil }

// Scan reads what Value stored.
func (w *Words) Scan(src any) error {
	stored, err := ScanText(src)
	*w = ParseWords(stored)
	return err
}

// IDList is a list of ids in one column: ",3,5,".
type IDList []int64

// String is the list as the column has it.
func (l IDList) String() string {
	text := []byte{','}
	for _, id := range l {
		text = append(strconv.AppendInt(text, id, 10), ',')
	}
	return string(text)
}

// Value stores the list.
func (l IDList) Value() (driver.Value, error) { return l.String(), nil }

// Scan reads what Value stored. Something that is no id is an error: to pass
// over it would lose it with the next write.
func (l *IDList) Scan(src any) error {
	stored, err := ScanText(src)
	if err != nil {
		return err
	}
	list := IDList{}
	for _, word := range ParseWords(stored) {
		id, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return fmt.Errorf("scan a list of ids from %q: %w", stored, err)
		}
		list = append(list, id)
	}
	*l = list
	return nil
}

// ScanText is a text as drivers hand it to a Scanner; NULL is "".
func ScanText(src any) (string, error) {
	switch src := src.(type) {
	case nil:
		return "", nil
	case string:
		return src, nil
	case []byte:
		return string(src), nil
	}
	return "", fmt.Errorf("scan a text from %T", src)
}
