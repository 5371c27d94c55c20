package pixkey_test

import (
	"slices"
	"testing"

	"carteira/internal/payment"
	"carteira/internal/payment/pixkey"
	"carteira/internal/platform/fault"
	"carteira/test/kit/gatewaytest"
	"carteira/test/kit/pixtest"
)

func options(change ...string) map[string]string {
	usual := map[string]string{"key": "11.222.333/0001-81", "name": "Padaria São João Ltda", "city": "São Paulo"}
	return gatewaytest.Options(usual, change...)
}

func open(t *testing.T, options map[string]string) payment.Gateway {
	t.Helper()
	return gatewaytest.Open(t, pixkey.Provider(), gatewaytest.Env(nil), options)
}

func TestPixKeyPassesTheSuite(t *testing.T) { gatewaytest.RunManual(t, open(t, options())) }

func TestCodeSaysWhoIsPaidForWhat(t *testing.T) {
	order := gatewaytest.Order(1, 35_00)
	charge, err := open(t, options()).Create(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	want := pixtest.Code{
		Key: "11222333000181", Amount: 35_00, Name: "Padaria Sao Joao Ltda", City: "Sao Paulo",
		TxID: order.Reference[:25], Description: "Mensalidade Jose Cia.",
	}
	if got, err := pixtest.Parse(charge.PixCode); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestKeyTypeSettlesWhatDigitsAre(t *testing.T) {
	_, err := pixkey.Provider().Open(options("key", "11987654374"), payment.Env{})
	if fields := fault.FieldsOf(err); len(fields.Get("key")) == 0 {
		t.Fatalf("ambiguous digits: %v", err)
	}
	for kind, want := range map[string]string{"cpf": "11987654374", "phone": "+5511987654374"} {
		charge, err := open(t, options("key", "11987654374", "key_type", kind)).Create(t.Context(), gatewaytest.Order(1, 1_00))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := pixtest.Parse(charge.PixCode); err != nil || got.Key != want {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}

func TestWrongOptionsAreRefusedByName(t *testing.T) {
	tests := map[string]map[string]string{
		"key":      options("key", "11222333000182"),
		"key_type": options("key_type", "fax"),
		"name":     options("name", "😀"),
		"city":     options("city", ""),
	}
	for field, test := range tests {
		_, err := pixkey.Provider().Open(test, payment.Env{})
		if fields := fault.FieldsOf(err); len(fields.Get(field)) != 1 {
			t.Errorf("%s: %v", field, err)
		}
	}
	_, err := pixkey.Provider().Open(nil, payment.Env{})
	fields := fault.FieldsOf(err)
	for _, field := range []string{"key", "name", "city"} {
		if len(fields.Get(field)) != 1 {
			t.Errorf("nothing given: %s is not refused: %v", field, err)
		}
	}
}

func TestAPersonConfirms(t *testing.T) {
	provider := pixkey.Provider()
	if !provider.Manual || provider.Flow != payment.FlowPix || slices.ContainsFunc(provider.Options, func(option payment.Option) bool { return option.Secret }) {
		t.Errorf("%+v", provider)
	}
}
