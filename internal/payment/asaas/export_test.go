package asaas

import "carteira/internal/payment"

// ProviderAt is Provider at another address.
func ProviderAt(base string) payment.Provider { return pixProvider(everywhere(base)) }

// CheckoutProviderAt is CheckoutProvider at another address.
func CheckoutProviderAt(base string) payment.Provider { return pageProvider(everywhere(base)) }

func everywhere(base string) map[string]string {
	return map[string]string{"production": base, "sandbox": base}
}
