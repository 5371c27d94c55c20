package account

import (
	"errors"
	"strings"
	"testing"

	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/sqldbtest"
)

func TestTermsAreReadCheckedAndStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		service := New(sqldbtest.New(t, engine), Config{})
		company, _, err := service.CreateCompany(t.Context(), NewCompany{Name: "Rede", Email: "ana@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		set := func(values map[string]string) (Settings, error) {
			_, err := service.SetCompany(t.Context(), Operator(company), ReadCompanyDraft(input.FromStrings(values)))
			found, findErr := FindCompany(t.Context(), service.db, company.ID)
			return found.Settings, errors.Join(err, findErr)
		}
		steps := []struct {
			sent map[string]string
			want [4]int64 // fee, interest, discount in percent, discount in cents
			err  string
		}{
			{map[string]string{"late_fee_percent": "2", "late_interest_percent": "1.5"}, [4]int64{2_00, 1_50, 0, 0}, ""},
			{map[string]string{"discount_percent": "5.25"}, [4]int64{2_00, 1_50, 5_25, 0}, ""},
			{map[string]string{"discount_amount": "3.00"}, [4]int64{2_00, 1_50, 0, 3_00}, ""}, // in place of the percentage
			{map[string]string{"discount_percent": "5"}, [4]int64{2_00, 1_50, 5_00, 0}, ""},   // and the other way round
			{map[string]string{"discount_percent": "0", "discount_amount": "1"}, [4]int64{2_00, 1_50, 0, 1_00}, ""},
			{map[string]string{"discount_percent": "5", "discount_amount": "1"}, [4]int64{2_00, 1_50, 0, 1_00}, "not both"},
			{map[string]string{"late_fee_percent": "100.01"}, [4]int64{2_00, 1_50, 0, 1_00}, "100.00"},
			{map[string]string{"late_fee_percent": "-1"}, [4]int64{2_00, 1_50, 0, 1_00}, "negative"},
			{map[string]string{"late_interest_percent": "1.234"}, [4]int64{2_00, 1_50, 0, 1_00}, "two decimal places"},
			{map[string]string{"late_fee_percent": "", "late_interest_percent": "", "discount_amount": ""}, [4]int64{}, ""},
		}
		for _, step := range steps {
			got, err := set(step.sent)
			if (err == nil) != (step.err == "") || err != nil && !strings.Contains(err.Error(), step.err) {
				t.Errorf("%v: %v", step.sent, err)
			}
			terms := [4]int64{int64(got.LateFeePercent), int64(got.LateInterestPercent), int64(got.DiscountPercent), int64(got.DiscountAmount)}
			if terms != step.want {
				t.Errorf("%v: %v, want %v", step.sent, terms, step.want)
			}
		}
	})
}

func TestTransactionSeesTheTermsOfItsOwnTime(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		service := New(sqldbtest.New(t, engine), Config{})
		company, _, err := service.CreateCompany(t.Context(), NewCompany{Name: "Rede", Email: "ana@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		before := Operator(company)
		if _, err := service.SetCompany(t.Context(), before, CompanyDraft{LateFeePercent: input.Some(money.Percent(2_00))}); err != nil {
			t.Fatal(err)
		}
		err = service.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			seen, err := before.Refreshed(t.Context(), tx)
			if seen.Company.Settings.LateFeePercent != 2_00 || seen.From != before.From {
				t.Errorf("%+v", seen)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
