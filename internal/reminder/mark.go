package reminder

import (
	"fmt"
	"strconv"
	"strings"
)

// Mark names one attempt to a carrier that gives it back in its reports. A report
// may come before the attempt is recorded, or after a crash in the middle of it,
// when nobody here knows yet what the carrier calls the message.
type Mark struct {
	MessageID int64
	Key       string // of the message
	Number    int    // of the attempt
}

const markPrefix = "carteira:"

// String is the mark as a carrier gets it; empty for the zero Mark.
func (m Mark) String() string {
	if m == (Mark{}) {
		return ""
	}
	return fmt.Sprintf("%s%d:%d:%s", markPrefix, m.MessageID, m.Number, m.Key)
}

// ParseMark reads a mark that a carrier gave back. What is no mark of ours is the
// zero Mark: the carrier's account may have other users.
func ParseMark(text string) Mark {
	rest, ours := strings.CutPrefix(text, markPrefix)
	parts := strings.SplitN(rest, ":", 3)
	if !ours || len(parts) != 3 || parts[2] == "" {
		return Mark{}
	}
	messageID, idErr := strconv.ParseInt(parts[0], 10, 64)
	number, numberErr := strconv.Atoi(parts[1])
	if idErr != nil || numberErr != nil || messageID <= 0 || number <= 0 {
		return Mark{}
	}
	return Mark{MessageID: messageID, Key: parts[2], Number: number}
}
