package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
)

// Options reads what a company entered for a gateway and collects what is
// wrong with it.
type Options struct {
	Given  map[string]string
	fields fault.Fields
}

// Need is an option that must be given, on one line and without spaces: it
// becomes part of a header.
func (o *Options) Need(name string) string {
	value := o.Opt(name)
	if value == "" && len(o.fields.Get(name)) == 0 {
		o.Refuse(name, "is required")
	}
	return value
}

// Opt is one that may be left out.
func (o *Options) Opt(name string) string {
	value := o.Text(name)
	for _, r := range value {
		if r <= ' ' || r > '~' {
			o.Refuse(name, "must be plain characters without spaces")
			return ""
		}
	}
	return value
}

// Text is one that may be anything.
func (o *Options) Text(name string) string {
	return strings.TrimSpace(o.Given[name])
}

// Choice is one of several; the first when it is left out.
func (o *Options) Choice(name string, choices []string) string {
	value := o.Text(name)
	switch {
	case value == "":
		return choices[0]
	case !slices.Contains(choices, value):
		o.Refuse(name, "must be one of "+strings.Join(choices, ", "))
	}
	return value
}

// Refuse says what is wrong with an option.
func (o *Options) Refuse(name, reason string) { o.fields.Add(name, reason) }

// Err is the fault of all that is wrong, or nil.
func (o *Options) Err() error { return o.fields.Err() }

// Environments are the choices of providers that have a place for trials.
var Environments = []string{"production", "sandbox"}

// Environment is the option that chooses among them.
var Environment = payment.Option{
	Name: "environment", Title: "Ambiente", Choices: Environments,
	Help: "production (real money, the default) or sandbox (the provider's place for trials, with an account of its own)",
}

// Autopay is the option that turns PIX Automático on, which is off unless a company
// says that its contract has it.
func Autopay(help string) payment.Option {
	return payment.Option{Name: "autopay", Title: "PIX Automático", Choices: []string{"no", "yes"}, Help: help}
}

// LateCharges is the option that says who computes late fee, interest and discount.
func LateCharges(help string) payment.Option {
	return payment.Option{
		Name: lateCharges, Title: "Multa, juros e desconto", Choices: []string{"daily", "bank"},
		Help: "daily (a code for each day, the default) or bank (one code, and the bank computes; customers need a CPF or CNPJ" +
			help + ")",
	}
}

const lateCharges = "late_charges"

// Computes reports whether the company has the provider compute what a late payment costs.
func Computes(options map[string]string) bool { return options[lateCharges] == "bank" }

// Frequencies are how often a debit comes, as providers call it in English.
var Frequencies = map[payment.Every]string{
	payment.EveryWeek:     "WEEKLY",
	payment.EveryMonth:    "MONTHLY",
	payment.EveryQuarter:  "QUARTERLY",
	payment.EveryHalfYear: "SEMIANNUALLY",
	payment.EveryYear:     "ANNUALLY",
}

// Changed reports whether a call was turned down because of what the charge
// has become, or may have been: it is worth looking at it again.
func Changed(err error) bool {
	switch Status(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict,
		http.StatusGone, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// maxPause bounds how long a provider is left alone on its own word: what it asks
// for may be a mistake, and payments are waiting.
const maxPause = 15 * time.Minute

// maxPauses bounds what is remembered.
const maxPauses = 10_000

// pauses are the accounts that must come back later, and when. A gateway is opened
// for every call, so they are kept here.
var pauses struct {
	sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

// account identifies an account at a provider.
func (a *API) account() [sha256.Size]byte {
	parts := []string{a.Base, a.Account}
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		parts = append(parts, name, a.Header[name])
	}
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// pausedError is a call that was not made.
type pausedError struct{ until time.Time }

func (e *pausedError) Error() string {
	return "the provider wants to be left alone until " + e.until.UTC().Format(time.TimeOnly) + " UTC"
}

// paused reports whether the provider wants a pause.
func (a *API) paused() error {
	if a.Now == nil {
		return nil
	}
	key := a.account()
	pauses.Lock()
	defer pauses.Unlock()
	until, found := pauses.until[key]
	if !found {
		return nil
	}
	if !a.Now().Before(until) {
		delete(pauses.until, key)
		return nil
	}
	return &pausedError{until}
}

// heed remembers how long the provider wants to be left alone. Without such a
// wish the caller decides.
func (a *API) heed(response *http.Response) {
	if a.Now == nil || response.StatusCode != http.StatusTooManyRequests {
		return
	}
	wait := seconds(response.Header, "Retry-After", "RateLimit-Reset", "X-RateLimit-Reset-After")
	if wait <= 0 {
		return
	}
	pauses.Lock()
	defer pauses.Unlock()
	if pauses.until == nil || len(pauses.until) >= maxPauses {
		pauses.until = map[[sha256.Size]byte]time.Time{}
	}
	pauses.until[a.account()] = a.Now().Add(min(wait, maxPause))
}

// seconds reads the first header that says how many to wait.
func seconds(header http.Header, names ...string) time.Duration {
	for _, name := range names {
		if count, err := strconv.ParseFloat(header.Get(name), 64); err == nil && count > 0 && count < 1e6 {
			return time.Duration(count * float64(time.Second))
		}
	}
	return 0
}

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

// Derive makes a secret for callbacks from a credential, so that it need not
// be invented and stored. The credential cannot be found from it.
func Derive(credential, callbackURL string) string {
	mac := hmac.New(sha256.New, []byte(credential))
	mac.Write([]byte("callback " + callbackURL))
	return hex.EncodeToString(mac.Sum(nil))
}

// Reachable reports whether a provider would call an address. An address for
// trials on one's own machine is not registered: payments are found by asking.
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
