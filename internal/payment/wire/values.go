package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"carteira/internal/platform/money"
)

// Number is an amount as a JSON number in reais, 1234.50, written without
// going through floating point.
func Number(amount money.Cents) json.Number {
	return json.Number(amount.String())
}

// maxNumber bounds what is computed with: 99999999.990000000 is far shorter.
const maxNumber = 32

// Cents reads an amount in reais from a JSON number. Servers in Java write
// great ones with an exponent, 1.23456789E7. More than two places that are not
// zero are refused: money was lost on the way.
func Cents(number json.Number) (money.Cents, error) {
	text := string(number)
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if text == "" || len(text) > maxNumber || len(exponent) > 3 {
		return 0, fmt.Errorf("amount %.40q cannot be read", text)
	}
	amount, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, fmt.Errorf("amount %q cannot be read", text)
	}
	amount.Mul(amount, big.NewRat(100, 1))
	if !amount.IsInt() || !amount.Num().IsInt64() || amount.Sign() < 0 {
		return 0, fmt.Errorf("amount %q is not in cents", text)
	}
	return money.Cents(amount.Num().Int64()), nil
}

// Whole reads an amount that is in cents already.
func Whole(number json.Number) (money.Cents, error) {
	amount, err := Cents(number)
	if err == nil && amount%100 != 0 {
		err = fmt.Errorf("amount %q is not in cents", number)
	}
	return amount / 100, err
}

// Brasilia is the zone of dates that providers write without one. Brazil has
// had no summer time since 2019.
var Brasilia = time.FixedZone("-03", -3*60*60)

// Time reads an instant of ISO 8601, with a zone or else in Brasília's; zero
// when it is none.
func Time(text string) time.Time {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999Z0700",
		"2006-01-02 15:04:05", "2006-01-02T15:04:05", time.DateOnly,
	} {
		if at, err := time.ParseInLocation(layout, text, Brasilia); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// Same compares a secret that came with the one that is right, in a time that
// does not tell how much of it fits. An empty one fits nothing.
func Same(came, right string) bool {
	return right != "" && subtle.ConstantTimeCompare([]byte(came), []byte(right)) == 1
}

// Derive makes a secret for callbacks from a credential, so that nobody has to
// invent and keep one. Whoever knows it cannot find the credential.
func Derive(credential, callbackURL string) string {
	mac := hmac.New(sha256.New, []byte(credential))
	mac.Write([]byte("callback " + callbackURL))
	return hex.EncodeToString(mac.Sum(nil))
}

// Reachable tells whether a provider would call an address. One that is only
// for trials on one's own machine is not told to anybody: payments are found by
// asking.
func Reachable(callbackURL string) bool {
	return strings.HasPrefix(callbackURL, "https://")
}

// Cut shortens text to a number of characters.
func Cut(s string, limit int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), limit)])
}

// Pick returns the first that is not empty.
func Pick(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}
