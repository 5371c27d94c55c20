package account

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
)

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
