package woovi

import "carteira/internal/payment"

// ProviderAt is Provider at another address.
func ProviderAt(base string) payment.Provider {
	return provider(map[string]string{"production": base, "sandbox": base})
}
