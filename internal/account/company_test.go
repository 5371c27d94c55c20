package account_test

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

var noon = housetest.Morning

// form takes names and values in turn.
func form(pairs ...string) *input.Form {
	values := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		values[pair[0]] = pair[1]
	}
	return input.FromStrings(values)
}

// newCompany makes a company to act for.
func newCompany(t *testing.T, service *account.Service, email string) account.Actor {
	t.Helper()
	company, _, err := service.CreateCompany(t.Context(), account.ReadNewCompany(form("name", "Rede Clara", "email", email)))
	if err != nil {
		t.Fatal(err)
	}
	return account.System(company, "test")
}

// wantFields says which fields err must refuse, and no others.
func wantFields(t *testing.T, err error, want ...string) {
	t.Helper()
	got := slices.Sorted(maps.Keys(maps.Collect(fault.FieldsOf(err).All())))
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("refused %v (%v), want %v", got, err, want)
	}
}

func TestCompanyIsMadeWithItsOwner(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		db := sqldbtest.New(t, engine, sqldbtest.WithClock(sqldbtest.NewClock(noon)))
		service := account.New(db, account.Config{})
		company, owner, err := service.CreateCompany(t.Context(), account.ReadNewCompany(form("name", " Rede Clara ", "email", "Paula@Example.com", "password", "correct horse")))
		if err != nil {
			t.Fatal(err)
		}
		want := account.Company{
			ID: company.ID, Name: "Rede Clara", Level: account.LevelUltraMaster, Zone: company.Zone, Settings: account.DefaultSettings, CreatedAt: noon,
			Subscription: account.Subscription{Functions: account.EveryFunction},
		}
		if company != want || company.ID == 0 || company.Zone.String() != "America/Sao_Paulo" {
			t.Errorf("company %+v", company)
		}
		if owner.Name != "Paula" || owner.Email != "Paula@Example.com" || owner.Role != account.RoleOwner || owner.CompanyID != company.ID {
			t.Errorf("owner %+v", owner)
		}
		found, err := service.Actor(t.Context(), company.ID)
		if found.Company.CreatedAt = found.Company.CreatedAt.UTC(); err != nil || found.Company != company {
			t.Errorf("found %+v, %v; made %+v", found.Company, err, company)
		}
		foundOwner, err := service.Owner(t.Context(), found)
		if foundOwner.CreatedAt = foundOwner.CreatedAt.UTC(); err != nil || foundOwner != owner {
			t.Errorf("found %+v, %v; made %+v", foundOwner, err, owner)
		}
		hash, err := sqldb.Value[string](t.Context(), db, `SELECT password_hash FROM users WHERE company_id = ?`, company.ID)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := secret.CheckPassword(t.Context(), hash, "correct horse"); err != nil || !ok {
			t.Errorf("the password does not fit its hash: %v", err)
		}
	})
}

func TestCompanyRefusesEveryWrongFieldAtOnce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := account.New(db, account.Config{})
		for _, c := range []struct {
			form *input.Form
			want []string
		}{
			{form(), []string{"name", "email"}},
			{form("name", " ", "email", ""), []string{"name", "email"}},
			{
				form("name", "A\nB", "email", "ana@", "password", "sété car", "level", "king", "timezone", "Mars/Base"),
				[]string{"name", "email", "level", "timezone"},
			},
			{form("name", "A", "email", "a@example.com", "password", "çççç123"), []string{"password"}},
			{form("name", "A", "email", "a@example.com", "timezone", "Local"), []string{"timezone"}},
		} {
			_, _, err := service.CreateCompany(t.Context(), account.ReadNewCompany(c.form))
			wantFields(t, err, c.want...)
		}
		if all, err := service.Companies(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("companies %v, %v; want none", all, err)
		}
	})
}

func TestEmailBelongsToOneUserWithoutRegardToCase(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := account.New(db, account.Config{})
		spellings := []string{"joão@example.com", "JOÃO@example.com", "Joa\u0303o@Example.COM", "joão@EXAMPLE.com"}
		errs := make([]error, len(spellings))
		var wg sync.WaitGroup
		for i, email := range spellings {
			wg.Go(func() {
				_, _, errs[i] = service.CreateCompany(t.Context(), account.ReadNewCompany(form("name", "A", "email", email)))
			})
		}
		wg.Wait()
		lost := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
		if len(lost) != len(spellings)-1 {
			t.Errorf("%d of %d were refused", len(lost), len(spellings))
		}
		for _, err := range lost {
			wantFields(t, err, "email")
		}
		if all, err := service.Companies(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("companies %v, %v; want one, the others taken back", all, err)
		}
	})
}

func TestSetCompanyChangesOnlyWhatIsGiven(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := account.New(db, account.Config{})
		actor, other := newCompany(t, service, "a@example.com"), newCompany(t, service, "b@example.com")
		steps := []struct {
			form   *input.Form
			change func(*account.Company)
		}{
			{form(), func(*account.Company) {}},
			{form("name", "Rede Nova"), func(company *account.Company) { company.Name = "Rede Nova" }},
			{form("level", "User"), func(company *account.Company) { company.Level = account.LevelUser }},
			{form("overdue_invoices", "2"), func(company *account.Company) {
				company.Settings.OverdueInvoices, company.Settings.OverdueSince = 2, actor.Today(db.Now())
			}},
			{form("overdue_invoices", "3"), func(company *account.Company) { company.Settings.OverdueInvoices = 3 }},
			{form("overdue_invoices", "0"), func(company *account.Company) { company.Settings.OverdueInvoices = 0 }},
			{form("renew_from", "today", "lead_days", "0"), func(company *account.Company) {
				company.Settings.RenewFrom, company.Settings.LeadDays = account.FromToday, 0
			}},
			{form("renew_on_payment", "false"), func(company *account.Company) { company.Settings.RenewOnPayment = false }},
		}
		want := actor.Company
		for _, step := range steps {
			step.change(&want)
			got, err := service.SetCompany(t.Context(), actor, account.ReadCompanyDraft(step.form))
			wantCompany(t, got, want, err)
		}
		found, err := service.Actor(t.Context(), actor.Company.ID)
		wantCompany(t, found.Company, want, err)
		untouched, err := service.Actor(t.Context(), other.Company.ID)
		wantCompany(t, untouched.Company, other.Company, err)

		_, err = service.SetCompany(t.Context(), actor, account.ReadCompanyDraft(form("name", "", "lead_days", "61", "renew_from", "birth", "timezone", "x")))
		wantFields(t, err, "name", "lead_days", "renew_from", "timezone")
		_, err = service.SetCompany(t.Context(), actor, account.ReadCompanyDraft(form("overdue_invoices", "1"))) // counted from today, no time is late
		wantFields(t, err, "overdue_invoices")
		if zoned, err := service.SetCompany(t.Context(), actor, account.ReadCompanyDraft(form("timezone", "America/Noronha"))); err != nil || zoned.Zone.String() != "America/Noronha" {
			t.Errorf("zone %v, %v", zoned.Zone, err)
		}
	})
}

func TestCompanyCannotRaiseItsOwnLevel(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		service := account.New(db, account.Config{})
		actor := newCompany(t, service, "a@example.com")
		_, err := service.SetCompany(t.Context(), actor, account.ReadCompanyDraft(form("level", "user")))
		if err != nil {
			t.Fatal(err)
		}
		for _, who := range []account.Actor{{UserID: 1, Role: account.RoleOwner}, {TokenID: 1}} {
			who.Company = actor.Company
			got, err := service.SetCompany(t.Context(), who, account.ReadCompanyDraft(form("level", "ultra_master", "name", "Rede Alta")))
			if err != nil || got.Level != account.LevelUser || got.Name != "Rede Alta" {
				t.Errorf("%+v made of itself %+v, %v", who, got, err)
			}
		}
	})
}

func wantCompany(t *testing.T, got, want account.Company, err error) {
	t.Helper()
	got.CreatedAt, want.CreatedAt = got.CreatedAt.UTC(), want.CreatedAt.UTC()
	if err != nil || got != want {
		t.Errorf("company %+v, %v\nwant    %+v", got, err, want)
	}
}
