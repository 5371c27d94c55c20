package reminder

import (
	"strings"
	"testing"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/secret"
)

// optOutToken is the token of a link that a mail has.
func (h *house) optOutToken(customerID int64) string {
	h.t.Helper()
	_, token, found := strings.Cut(h.OptOutURL(h.actor.Company.ID, customerID), "https://carteira.example/unsubscribe/")
	if !found {
		h.t.Fatal("there is no link")
	}
	return token
}

func TestOptOutLinkStopsMessagesOnce(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		customer := house.customer("2026-01-24")
		token := house.optOutToken(customer.ID)
		link, err := house.OpenOptOut(t.Context(), token)
		if err != nil || link.OptedOut || link.Company.Name != "Rede Clara" {
			t.Fatalf("%+v, %v", link, err)
		}
		if out, err := house.OptedOut(t.Context(), house.actor, customer.ID); err != nil || out {
			t.Errorf("opening the link opts out: %v, %v", out, err)
		}
		for range 3 {
			link, err = house.OptOutByLink(t.Context(), token, "203.0.113.7")
			if err != nil || !link.OptedOut {
				t.Errorf("%+v, %v", link, err)
			}
		}
		if n := house.count(`SELECT count(*) FROM audit_log WHERE action = 'customer.opted_out'`); n != 1 {
			t.Errorf("%d lines in the audit log, want one", n)
		}
		must(t, house.SetOptOut(t.Context(), house.actor, customer.ID, false)) // the company takes it back
		if link, err = house.OpenOptOut(t.Context(), token); err != nil || link.OptedOut {
			t.Errorf("%+v, %v", link, err)
		}
	})
}

func TestOptOutLinksCannotBeMade(t *testing.T) {
	each(t, func(t *testing.T, house *house) {
		customer := house.customer("2026-01-24")
		token := house.optOutToken(customer.ID)
		stranger := secret.NewBox(secret.NewKey())
		for name, wrong := range map[string]string{
			"empty": "", "cut": token[:len(token)-2], "another key": stranger.Seal([]byte("1.1"), optOutContext),
			"another purpose": house.box.Seal([]byte("1.1"), "reminder-channel:1"), "a text": house.box.Seal([]byte("all"), optOutContext),
			"nobody": house.box.Seal([]byte("1.999"), optOutContext), "no company": house.box.Seal([]byte("99.1"), optOutContext),
		} {
			if _, err := house.OptOutByLink(t.Context(), wrong, ""); fault.KindOf(err) != fault.KindNotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
		must(t, house.customers.Delete(t.Context(), house.actor, customer.ID))
		_, err := house.OptOutByLink(t.Context(), token, "")
		wantKind(t, err, fault.KindNotFound)
	})
}
