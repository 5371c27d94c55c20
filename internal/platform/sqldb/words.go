package sqldb

import (
	"database/sql/driver"
	"fmt"
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
