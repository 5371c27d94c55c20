package pix

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// object is one field of a code: two digits of id, two of length, the value.
// Some values are lists of objects again.
type object struct{ id, value string }

type objects []object

// String writes them out. A value over 99 bytes has no length to write; the
// limits of every field keep it from coming here.
func (list objects) String() string {
	var out strings.Builder
	for _, object := range list {
		fmt.Fprintf(&out, "%s%02d%s", object.id, len(object.value), object.value)
	}
	return out.String()
}

// find returns the value of an id.
func (list objects) find(id string) (string, bool) {
	for _, object := range list {
		if object.id == id {
			return object.value, true
		}
	}
	return "", false
}

var (
	errBroken = errors.New("its fields do not add up")
	errTwice  = errors.New("it has a field twice")
)

// readObjects cuts text into objects, all of it.
func readObjects(text string) (objects, error) {
	var list objects
	for text != "" {
		if len(text) < 4 || !isNumber(text[:4]) {
			return nil, errBroken
		}
		id := text[:2]
		number, _ := strconv.Atoi(text[2:4]) // two digits
		text = text[4:]
		if number == 0 || number > len(text) {
			return nil, errBroken
		}
		if _, again := list.find(id); again {
			return nil, errTwice
		}
		list = append(list, object{id, text[:number]})
		text = text[number:]
	}
	return list, nil
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// sumField is the id and length of the sum, which count in the sum itself.
const sumField = "6304"

func seal(text string) string {
	text += sumField
	return text + fmt.Sprintf("%04X", crc(text))
}

// crc is CRC-16/CCITT-FALSE: polynomial 1021, begun with FFFF, not reflected.
func crc(text string) uint16 {
	sum := uint16(0xFFFF)
	for i := range len(text) {
		sum ^= uint16(text[i]) << 8
		for range 8 {
			top := sum&0x8000 != 0
			sum <<= 1
			if top {
				sum ^= 0x1021
			}
		}
	}
	return sum
}
