package account

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
)

// Subscription is what a company has from its parent, and until when. A company
// at the top of the tree has none: it has every function, and no end.
type Subscription struct {
	Kind        SubscriptionKind
	PlanID      int64      // of the parent; 0: none
	ExpiresOn   civil.Date // the last day, by the company's own calendar; zero: no end
	OwnDay      int        // day of the month that renewals return to after a shorter month
	SuspendedAt time.Time  // zero: it is not suspended
	Functions   Functions
	Above       Above
	Anonymous   bool // made by a stranger through a signup link, and not paid for yet
}

// Above is the standing of the companies above one, up to the top: a company
// below a stopped one is stopped too. It is on the row of each, so that no
// query has to walk the tree.
type Above struct {
	SuspendedAt time.Time  // since when one of them is suspended; zero: none is
	ExpiresOn   civil.Date // the earliest of their last days; zero: no end
}

// passedDown is what the companies directly below one have as their Above.
func (s Subscription) passedDown() Above {
	above := s.Above
	at := s.SuspendedAt
	if !at.IsZero() && (above.SuspendedAt.IsZero() || at.Before(above.SuspendedAt)) {
		above.SuspendedAt = at
	}
	if on := s.ExpiresOn; !on.IsZero() && (above.ExpiresOn.IsZero() || on.Before(above.ExpiresOn)) {
		above.ExpiresOn = on
	}
	return above
}

// StoppedAbove reports whether a company above this one is stopped on a day.
func (s Subscription) StoppedAbove(today civil.Date) bool {
	return !s.Above.SuspendedAt.IsZero() || !s.Above.ExpiresOn.IsZero() && s.Above.ExpiresOn.Before(today)
}

// SubscriptionKind is whether a subscription is tried or paid for.
type SubscriptionKind string

// The kinds.
const (
	NoSubscription SubscriptionKind = "" // at the top of the tree
	Trial          SubscriptionKind = "trial"
	Subscriber     SubscriptionKind = "subscriber"
)

// Standing follows from the subscription and the day it is looked at.
type Standing string

// The standings, as records show them.
const (
	StandingTrial     Standing = "trial"
	StandingActive    Standing = "active"
	StandingExpired   Standing = "expired"
	StandingSuspended Standing = "suspended"
)

// Standings lists them.
var Standings = []Standing{StandingTrial, StandingActive, StandingExpired, StandingSuspended}

// Standing is the standing of the subscription on a day of the company's
// calendar.
func (s Subscription) Standing(today civil.Date) Standing {
	switch {
	case !s.SuspendedAt.IsZero():
		return StandingSuspended
	case !s.ExpiresOn.IsZero() && s.ExpiresOn.Before(today):
		return StandingExpired
	case s.Kind == Trial:
		return StandingTrial
	}
	return StandingActive
}

// Standing is the standing of the company at an instant.
func (c Company) Standing(now time.Time) Standing {
	return c.Subscription.Standing(civil.Of(now.In(c.Zone)))
}

// live reports whether the company may do more than read.
func (s Subscription) live(today civil.Date) bool {
	standing := s.Standing(today)
	return (standing == StandingTrial || standing == StandingActive) && !s.StoppedAbove(today)
}

// StoppedAbove reports whether a company above this one is stopped at an instant.
func (c Company) StoppedAbove(now time.Time) bool {
	return c.Subscription.StoppedAbove(civil.Of(now.In(c.Zone)))
}

// TellsWebhooks reports whether events of the company go out at an instant.
func (c Company) TellsWebhooks(now time.Time) bool {
	return c.Subscription.Functions.Has(FunctionWebhooks) && c.Subscription.live(civil.Of(now.In(c.Zone)))
}

// May reports whether the company's plan has a function.
func (a Actor) May(function Function) bool {
	return function == "" || a.Company.Subscription.Functions.Has(function)
}

// Allow is May for an edge: it refuses with what to tell the caller. "" needs
// nothing.
func (a Actor) Allow(function Function) error {
	if a.May(function) {
		return nil
	}
	return fault.Forbidden(fmt.Sprintf("functions: the company's subscription plan does not include %s", function))
}

// Writable refuses a change by a company with an expired or suspended subscription, or
// below such a company. Such a company may still sign in and read.
func (a Actor) Writable(today civil.Date) error {
	subscription := a.Company.Subscription
	switch subscription.Standing(today) {
	case StandingExpired:
		return fault.Forbidden(fmt.Sprintf(
			"status: the subscription expired on %s; nothing can be changed until it is renewed",
			subscription.ExpiresOn,
		))
	case StandingSuspended:
		return fault.Forbidden("status: the company is suspended; nothing can be changed until it is renewed")
	case StandingTrial, StandingActive:
	}
	if subscription.StoppedAbove(today) {
		return fault.Forbidden("status: a company above this one is expired or suspended; nothing can be changed until that one goes on")
	}
	return nil
}

// Permit is what an edge asks in its one place: whether the company has a
// function ("" needs none) and, for a change, whether it may change anything
// at this instant.
func (a Actor) Permit(function Function, change bool, now time.Time) error {
	if err := a.Allow(function); err != nil || !change {
		return err
	}
	return a.Writable(a.Today(now))
}

// By names who acts, for records that are kept: user:1, token:3, or where it was
// done from.
func (a Actor) By() string {
	switch {
	case a.UserID != 0:
		return fmt.Sprintf("user:%d", a.UserID)
	case a.TokenID != 0:
		return fmt.Sprintf("token:%d", a.TokenID)
	}
	return cmp.Or(a.From, CommandLine)
}

// Function is a part of the product that a subscription plan switches on for
// the companies on it.
type Function string

// The functions.
const (
	FunctionAPI       Function = "api"
	FunctionWebhooks  Function = "webhooks"
	FunctionPayments  Function = "payments"
	FunctionReminders Function = "reminders"
	FunctionResellers Function = "resellers"
	FunctionImport    Function = "import"
	FunctionExport    Function = "export"
)

// FunctionEntry is a line of the catalog.
type FunctionEntry struct {
	Name        Function
	Description string // what it switches on
}

// FunctionCatalog lists every function. Its order is that of the bits of
// Functions in memory; what is stored is names, so lines may come and go.
var FunctionCatalog = []FunctionEntry{
	{FunctionAPI, "call the API with tokens"},
	{FunctionWebhooks, "be told of events at addresses of one's own"},
	{FunctionPayments, "charge invoices through a payment gateway"},
	{FunctionReminders, "send scheduled messages to customers"},
	{FunctionResellers, "have resellers and subscription plans, where the level allows it"},
	{FunctionImport, "load customers from a file"},
	{FunctionExport, "write customers to a file"},
}

// Functions is a set of functions.
type Functions uint64

// EveryFunction is also those that later versions will bring.
const EveryFunction = ^Functions(0)

// FunctionsOf makes a set of names; what is no function is left out.
func FunctionsOf(names ...Function) (functions Functions) {
	for _, name := range names {
		functions |= bitOf(name)
	}
	return functions
}

func bitOf(name Function) Functions {
	i := slices.IndexFunc(FunctionCatalog, func(entry FunctionEntry) bool {
		return entry.Name == name
	})
	if i < 0 {
		return 0
	}
	return 1 << i
}

// Has reports whether a function is in the set.
func (f Functions) Has(name Function) bool { return f&bitOf(name) != 0 }

// Names lists the set in the order of the catalog.
func (f Functions) Names() []Function {
	names := []Function{}
	for _, entry := range FunctionCatalog {
		if f.Has(entry.Name) {
			names = append(names, entry.Name)
		}
	}
	return names
}

// allFunctions is how tables have EveryFunction.
const allFunctions = "*"

// String is the set as tables have it: allFunctions, or a list of names, each with
// a comma on either side: ",api,webhooks,".
func (f Functions) String() string {
	if f == EveryFunction {
		return allFunctions
	}
	var stored strings.Builder
	stored.WriteByte(',')
	for _, name := range f.Names() {
		stored.WriteString(string(name) + ",")
	}
	return stored.String()
}

// ParseFunctions reads what String wrote. A name that this version does not
// know is passed over.
func ParseFunctions(stored string) (functions Functions) {
	if stored == allFunctions {
		return EveryFunction
	}
	for name := range strings.SplitSeq(stored, ",") {
		functions |= bitOf(Function(name))
	}
	return functions
}

// Value stores the set.
func (f Functions) Value() (driver.Value, error) { return f.String(), nil }

// Scan reads what Value stored.
func (f *Functions) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*f = 0
	case string:
		*f = ParseFunctions(src)
	case []byte:
		*f = ParseFunctions(string(src))
	default:
		return fmt.Errorf("scan functions from %T", src)
	}
	return nil
}
