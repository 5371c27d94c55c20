package address

import "testing"

func TestAddressInOneLineIsTakenApart(t *testing.T) {
	for line, want := range map[string]Address{
		"Rua das Flores, 278":                {Street: "Rua das Flores", Number: "278"},
		"Rua das Flores, 12-A":               {Street: "Rua das Flores", Number: "12-A"},
		"Rua das Flores, nº 278":             {Street: "Rua das Flores", Number: "278"},
		"Rua das Flores, n. 278 - Centro":    {Street: "Rua das Flores", Number: "278", District: "Centro"},
		"R. 7 de Setembro, 10 ap 201":        {Street: "R. 7 de Setembro", Number: "10", Complement: "ap 201"},
		"Av. Brasil - 1500 - Vila Nova":      {Street: "Av. Brasil", Number: "1500", District: "Vila Nova"},
		"Rua A, 10, fundos":                  {Street: "Rua A", Number: "10", Complement: "fundos"},
		"Rua A, 10, bloco B, ap 4, Centro":   {Street: "Rua A", Number: "10", Complement: "bloco B, ap 4", District: "Centro"},
		"Rua A, s/n - Zona Rural":            {Street: "Rua A", Number: "s/n", District: "Zona Rural"},
		"Rua A, 10 - Centro - Varginha/MG":   {Street: "Rua A", Number: "10", District: "Centro", City: "Varginha", State: "MG"},
		"Rua A, 10, Centro, Varginha - MG":   {Street: "Rua A", Number: "10", District: "Centro", City: "Varginha", State: "MG"},
		"Rua A, 10 - Varginha/MG, 37002-100": {Street: "Rua A", Number: "10", City: "Varginha", State: "MG", CEP: "37002100"},
		"Rua das Acácias, 10 - Centro - Varginha/MG - CEP 37002-100": {
			Street: "Rua das Acácias", Number: "10", District: "Centro", City: "Varginha", State: "MG", CEP: "37002100",
		},
		"Rua A, 10 - Centro - CEP: 37002100": {Street: "Rua A", Number: "10", District: "Centro", CEP: "37002100"},
		full.String():                        full,
		// What is not certain stays where it is.
		"Rua das Flores":               {Street: "Rua das Flores"},
		"Rua 15":                       {Street: "Rua 15"},
		"Sítio Boa Vista - Zona Rural": {Street: "Sítio Boa Vista - Zona Rural"},
		"Rua A, em frente à padaria":   {Street: "Rua A, em frente à padaria"},
		"Rua A 37002-100":              {Street: "Rua A 37002-100"},
		"":                             {},
	} {
		if got := Split(line); got != want {
			t.Errorf("%q\n got %+v\nwant %+v", line, got, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("Rua A, 10 - Centro - Varginha/MG - 37002-100")
	f.Fuzz(func(t *testing.T, line string) {
		got := Split(line)
		if _, faults := (Address{Street: line}).Check(); !faults.Empty() {
			return
		}
		if _, faults := got.Check(); !faults.Empty() {
			t.Fatalf("%q became %+v: %v", line, got, faults)
		}
	})
}
