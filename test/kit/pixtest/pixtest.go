// Package pixtest reads BR Codes back, whatever program wrote them, so that tests can say what
// a code holds. Only tests import it; it shares nothing with the writer.
package pixtest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"carteira/internal/platform/money"
)

// What every code has, and the limits of its fields.
const (
	gui            = "br.gov.bcb.pix"
	noTxID         = "***"
	methodReusable = "11"
	methodOnce     = "12"
	maxCode        = 512
	maxURL         = 77
	maxKey         = 77
)

// Code is what a BR Code says. It has a key, the address of a charge, or only
// that of a recurrence.
type Code struct {
	Once          bool        // says that it is for one payment; banks do not hold a static one to it
	Key           string      // as written: codes with wrong check digits are about
	Description   string      // with a key
	URL           string      // of the charge, without https://
	RecurrenceURL string      // of an automatic PIX
	Amount        money.Cents // 0: not said
	Name          string
	City          string
	PostalCode    string
	TxID          string // empty when it has none
}

// Parse reads a code of any maker. It wants the sum right and every field
// whole, and is lenient in what makes no difference to a payment.
func Parse(text string) (Code, error) {
	code, err := parse(strings.TrimSpace(text))
	if err != nil {
		return Code{}, fmt.Errorf("pix: not a BR Code: %w", err)
	}
	return code, nil
}

func parse(text string) (Code, error) {
	list, err := frame(text)
	if err != nil {
		return Code{}, err
	}
	var code Code
	for _, read := range []func(*Code, objects) error{readConstants, readPayee, readAccount, readAmount, readLabel, readRecurrence} {
		if err := read(&code, list); err != nil {
			return Code{}, err
		}
	}
	if code.Key == "" && code.URL == "" && code.RecurrenceURL == "" {
		return Code{}, errors.New("it names neither a key nor a charge")
	}
	return code, nil
}

// frame checks what holds the fields together: length, sum, first and last.
func frame(text string) (objects, error) {
	if len(text) > maxCode || !utf8.ValidString(text) {
		return nil, errors.New("it is too long, or no text")
	}
	list, err := readObjects(text)
	if err != nil {
		return nil, err
	}
	if len(list) < 2 || list[0] != (object{"00", "01"}) || list[len(list)-1].id != "63" || len(list[len(list)-1].value) != 4 {
		return nil, errors.New("it does not begin and end as it must")
	}
	body := text[:len(text)-4]
	if want := fmt.Sprintf("%04X", crc(body)); !strings.EqualFold(want, text[len(body):]) {
		return nil, errors.New("its sum is wrong")
	}
	return list, nil
}

// readConstants checks what is the same in every code in reais.
func readConstants(code *Code, list objects) error {
	method, given := list.find("01")
	if given && method != methodReusable && method != methodOnce {
		return errors.New("its method is unknown")
	}
	code.Once = method == methodOnce
	if category, _ := list.find("52"); len(category) != 4 || !isNumber(category) {
		return errors.New("it has no category")
	}
	if currency, _ := list.find("53"); currency != "986" {
		return errors.New("it is not in reais")
	}
	if country, _ := list.find("58"); country != "BR" {
		return errors.New("it is not Brazilian")
	}
	return nil
}

func readPayee(code *Code, list objects) error {
	code.Name, _ = list.find("59")
	code.City, _ = list.find("60")
	code.PostalCode, _ = list.find("61")
	if code.Name == "" || code.City == "" {
		return errors.New("it does not name who is paid, and where")
	}
	return nil
}

// readAccount looks for PIX among the arrangements that a code may serve.
func readAccount(code *Code, list objects) error {
	found := false
	for _, object := range list {
		if object.id < "26" || object.id > "51" {
			continue
		}
		fields, mine, err := template(object.value)
		switch {
		case err != nil:
			return err
		case mine && found:
			return errors.New("it has PIX twice")
		case mine:
			found = true
			code.Key, _ = fields.find("01")
			code.Description, _ = fields.find("02")
			code.URL, _ = fields.find("25")
		}
	}
	return checkAccount(code, found)
}

func checkAccount(code *Code, found bool) error {
	switch {
	case !found:
		return errors.New("it is not for PIX")
	case code.Key != "" && code.URL != "":
		return errors.New("it has both a key and a charge")
	case len(code.Key) > maxKey || len(code.URL) > maxURL || strings.Contains(code.URL, "://"):
		return errors.New("its key or address is wrong")
	}
	return nil
}

// template reads a list inside a field, and reports whether it is PIX's.
func template(value string) (objects, bool, error) {
	fields, err := readObjects(value)
	if err != nil {
		return nil, false, err
	}
	name, _ := fields.find("00")
	return fields, strings.EqualFold(name, gui), nil
}

func readAmount(code *Code, list objects) error {
	text, given := list.find("54")
	if !given {
		return nil
	}
	amount, err := money.Parse(text)
	if err != nil || amount == 0 || len(text) > 13 {
		return errors.New("its amount is wrong")
	}
	code.Amount = amount
	return nil
}

func readLabel(code *Code, list objects) error {
	value, given := list.find("62")
	if !given {
		return nil
	}
	fields, err := readObjects(value)
	if err != nil {
		return err
	}
	code.TxID, _ = fields.find("05")
	if code.TxID == noTxID {
		code.TxID = ""
	}
	return nil
}

func readRecurrence(code *Code, list objects) error {
	for _, object := range list {
		if object.id < "80" {
			continue
		}
		fields, mine, err := template(object.value)
		if err != nil {
			return err
		}
		if mine {
			code.RecurrenceURL, _ = fields.find("25")
		}
	}
	return nil
}

// object is one field of a code: two digits of id, two of length, the value.
// Some values are lists of objects again.
type object struct{ id, value string }

type objects []object

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

// Seal appends the sum, with its id and length, which count in the sum itself.
func Seal(text string) string {
	text += "6304"
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
