package account

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"testing"
	"time"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// notAudited are the fields that no table of fields.go shows, each with the
// reason.
var notAudited = map[string]string{
	"Profile.Company.ID":                     "it is the line's",
	"Profile.Company.ParentID":               "it does not change",
	"Profile.Company.CreatedAt":              "it is the time of the line that says so",
	"Profile.Company.Settings.OverdueSince":  "it is the day of the line that switches overdue invoices on",
	"Profile.Company.Subscription.PlanID":    "people know plans by name",
	"Profile.Company.Subscription.OwnDay":    "it follows from the last day",
	"Profile.Company.Subscription.Above":     "it is what happened to another company, and is in the log of that one",
	"Profile.Company.Subscription.Anonymous": "it follows from who made the company",
	"User.ID":                                "it is the line's",
	"User.CompanyID":                         "the log is the company's",
	"User.CreatedAt":                         "it is the time of the line that says so",
	"Token.MadeBy":                           "it is who the line of its making names",
	"Token.Maker":                            "it is who the line of its making names",
	"Token.ID":                               "it is the line's",
	"Token.CompanyID":                        "the log is the company's",
	"Token.CreatedAt":                        "it is the time of the line that says so",
	"Token.LastUsedAt":                       "nobody changes it by hand",
}

// leaves walks the exported fields of a record down to plain values.
func leaves(path string, value reflect.Value, visit func(path string, value reflect.Value)) {
	for i := range value.NumField() {
		name, f := path+"."+value.Type().Field(i).Name, value.Field(i)
		switch f.Interface().(type) {
		case Company, Settings, Brand, Subscription:
			leaves(name, f, visit)
		default:
			visit(name, f)
		}
	}
}

// fill sets a field to something that is not its zero value.
func fill(value reflect.Value, count int) {
	switch value.Interface().(type) {
	case string:
		value.SetString(fmt.Sprintf("text%d", count))
	case int, int64:
		value.SetInt(int64(count))
	case money.Percent, money.Cents:
		value.SetInt(int64(count))
	case bool:
		value.SetBool(true)
	case time.Time:
		value.Set(reflect.ValueOf(time.UnixMicro(int64(count) + 1)))
	case civil.Date:
		value.Set(reflect.ValueOf(civil.MustParse("2026-03-31")))
	case Above:
		value.Set(reflect.ValueOf(Above{time.UnixMicro(int64(count) + 1), civil.MustParse("2026-04-30")}))
	case Level:
		value.SetString(string(LevelMaster))
	case RenewFrom:
		value.SetString(string(FromToday))
	case RenewInvoice:
		value.SetString(string(PayInvoice))
	case SubscriptionKind:
		value.SetString(string(Subscriber))
	case Scope:
		value.SetString(string(ScopeRead))
	case Role:
		value.SetString(string(RoleStaff))
	case Functions:
		value.SetUint(uint64(FunctionsOf(FunctionAPI, FunctionImport)))
	case *time.Location:
		value.Set(reflect.ValueOf(mustZone("America/Noronha")))
	default:
		panic(fmt.Sprintf("no filling for a %s", value.Type()))
	}
}

func mustZone(name string) *time.Location {
	zone, err := civil.LoadZone(name)
	if err != nil {
		panic(err)
	}
	return zone
}

// wantAudited fails for every field of T that could change without a trace in
// the audit log.
func wantAudited[T any](t *testing.T, blank func() T, audit func(*T) AuditFields) {
	t.Helper()
	var paths []string
	zero := blank()
	name := reflect.TypeFor[T]().Name()
	leaves(name, reflect.ValueOf(&zero).Elem(), func(path string, _ reflect.Value) { paths = append(paths, path) })
	for _, path := range paths {
		before, after := blank(), blank()
		leaves(name, reflect.ValueOf(&after).Elem(), func(p string, value reflect.Value) {
			if p == path {
				fill(value, 7)
			}
		})
		changed := len(AuditEntry{Before: audit(&before), After: audit(&after)}.changes())
		if _, excepted := notAudited[path]; (changed == 1) == excepted {
			t.Errorf("%s: the audit log shows %d changes; is it missing in fields.go? (excepted: %v)", path, changed, excepted)
		}
	}
}

func TestEveryFieldIsAuditedWhenItChanges(t *testing.T) {
	wantAudited(t, func() Profile { return Profile{Company: Company{Zone: time.UTC}} }, companyAudit)
	wantAudited(t, func() User { return User{} }, UserFields.Audit)
	wantAudited(t, func() Token { return Token{} }, TokenFields.Audit)
}

func TestEveryFieldIsInTheJSONOfItsRecord(t *testing.T) {
	housetest.EveryFieldShows(t, func(user *User) iter.Seq2[string, any] { return UserFields.In(InRecord, user) }, map[string]string{
		"CompanyID": "a company reads its own",
		"CreatedAt": "lists have it, behind the second factor",
	})
	housetest.EveryFieldShows(t, func(token *Token) iter.Seq2[string, any] { return TokenFields.In(InRecord, token) }, map[string]string{
		"CompanyID": "a company reads its own",
		"MadeBy":    "people know users by name",
		"Maker":     "lists have it: a program that reads its own token may not know users",
	})
	housetest.EveryFieldShows(t, func(token *Token) iter.Seq2[string, any] { return TokenFields.In(InLists, token) }, map[string]string{
		"CompanyID": "a company reads its own",
		"MadeBy":    "people know users by name",
	})
}

func TestEveryFieldOfADraftIsSet(t *testing.T) {
	housetest.EveryDraftFieldSets(t, UserFields, UserDraft{Name: input.Some("Ana"), Email: input.Some("ana@example.com"), Role: input.Some(RoleStaff)})
	housetest.EveryDraftFieldSets(t, CompanyFields, CompanyDraft{
		Name: input.Some("Rede"), Whatsapp: input.Some("5511987654321"), CpfCnpj: input.Some("1"), Address: input.Some("Rua A"),
		Email: input.Some("a@example.com"), Level: input.Some(LevelUser), Zone: input.Some(time.UTC), RenewFrom: input.Some(FromToday),
		RenewOnPayment: input.Some(true), LeadDays: input.Some(3), OverdueInvoices: input.Some(2), RenewInvoice: input.Some(PayInvoice),
		ClosedThrough: input.Some(civil.MustParse("2026-03-31")), Color: input.Some("#000000"), HiddenSteps: input.Some("plan"),
		LateFeePercent: input.Some(money.Percent(1)), LateInterestPercent: input.Some(money.Percent(1)),
		DiscountPercent: input.Some(money.Percent(1)), DiscountAmount: input.Some(money.Cents(1)),
	})
}

// notWritten are the fields that an insert does not take from the record.
var notWritten = map[string]string{
	"Profile.Company.ID":                  "the database gives it",
	"Profile.Company.ParentID":            "it refers to a company that there must be",
	"Profile.Company.CreatedAt":           "it is the transaction's time",
	"Profile.Company.Subscription.PlanID": "it refers to a plan that there must be",
	"Profile.OwnerEmail":                  "it is the owner's row",
	"Profile.PlanName":                    "it is the plan's row",
}

func filledProfile() (profile Profile) {
	n := 0
	leaves("Profile", reflect.ValueOf(&profile).Elem(), func(path string, value reflect.Value) {
		n++
		if _, excepted := notWritten[path]; !excepted {
			fill(value, n)
		}
	})
	return profile
}

func TestEveryFieldOfACompanyIsStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		service := New(sqldbtest.New(t, engine), Config{})
		made := Change{Action: CompanyCreated, After: filledProfile(), owner: newOwner("ana@example.com", "hash")}
		apply(t, service, &made)
		wantStored(t, service, made.After.Company)

		fresh := Company{ID: made.After.ID, Name: "Rede", Level: LevelUser, Zone: time.UTC, CreatedAt: made.After.CreatedAt}
		fresh.Settings.RenewFrom, fresh.Settings.RenewInvoice = FromDueDate, KeepInvoice
		apply(t, service, &Change{Action: CompanyUpdated, Before: made.After, After: Profile{Company: fresh}})
		wantStored(t, service, fresh)
	})
}

func apply(t *testing.T, service *Service, change *Change) {
	t.Helper()
	err := service.db.Write(t.Context(), func(tx *sqldb.Tx) error {
		return service.applyCompany(t.Context(), Operator(change.Before.Company).In(tx), change)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantStored(t *testing.T, service *Service, want Company) {
	t.Helper()
	got, err := FindCompany(t.Context(), service.db, want.ID)
	got.CreatedAt, want.CreatedAt = got.CreatedAt.UTC(), want.CreatedAt.UTC()
	got.Subscription.SuspendedAt, want.Subscription.SuspendedAt = got.Subscription.SuspendedAt.UTC(), want.Subscription.SuspendedAt.UTC()
	if err != nil || got != want {
		t.Errorf("stored %+v, %v\nwant   %+v", got, err, want)
	}
}

func TestEveryFieldOfAUserIsStored(t *testing.T) {
	sqldbtest.EachEngine(t, func(t *testing.T, engine sqldb.Engine) {
		service := New(sqldbtest.New(t, engine), Config{})
		company, owner, err := service.CreateCompany(t.Context(), NewCompany{Name: "Rede", Email: "ana@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		before, err := userByID(t.Context(), service.db, company.ID, owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		after := storedUser{User: before.User, passwordHash: "hash", totp: "sealed", totpPending: "pending", totpLast: 7}
		leaves("User", reflect.ValueOf(&after.User).Elem(), func(path string, value reflect.Value) {
			if !slices.Contains([]string{"User.ID", "User.CompanyID", "User.CreatedAt"}, path) { // they never change
				fill(value, 7)
			}
		})
		after.Email = "Outra@example.com"
		err = service.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			return service.applyUser(t.Context(), Operator(company).In(tx), &userChange{UserUpdated, before, after})
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := userByEmail(t.Context(), service.db, "outra@example.com"); err != nil || got != after {
			t.Errorf("stored %+v, %v\nwant   %+v", got, err, after)
		}
	})
}

func TestCountedStateIsReadAsItWasWritten(t *testing.T) {
	for stored, want := range map[string]CountedState{
		"user/trial//America/Manaus":                                 {LevelUser, Trial, false, "America/Manaus"},
		"master/subscriber/suspended/America/Argentina/Buenos_Aires": {LevelMaster, Subscriber, true, "America/Argentina/Buenos_Aires"},
		"reseller///UTC": {LevelReseller, NoSubscription, false, "UTC"},
	} {
		if got, err := ParseCountedState(stored); err != nil || got != want || want.String() != stored {
			t.Errorf("%q is read as %+v, %v; %+v is written as %q", stored, got, err, want, want)
		}
	}
	for _, stored := range []string{"", "user/trial", "user/trial/UTC", "user/trial/paused/UTC"} {
		if got, err := ParseCountedState(stored); err == nil {
			t.Errorf("%q is read as %+v", stored, got)
		}
	}
}

func TestWatchersSeeWhoChangedACompany(t *testing.T) {
	service := New(sqldbtest.New(t, sqldb.SQLite), Config{})
	var seen []Changes
	service.Watch(func(_ context.Context, _ *sqldb.Tx, changes Changes) error {
		seen = append(seen, changes)
		return nil
	})
	company, _, err := service.CreateCompany(t.Context(), NewCompany{Name: "Rede", Email: "ana@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	actor := Actor{Company: company, UserID: 4, From: "192.0.2.1"}
	if _, err := service.SetCompany(t.Context(), actor, CompanyDraft{}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0].Actor.Company.ID != company.ID || seen[0].List[0].Action != CompanyCreated || seen[0].List[0].Before.ID != 0 ||
		seen[1].Actor.UserID != 4 || seen[1].List[0].Before.ID != company.ID {
		t.Errorf("%+v", seen)
	}
}

// A password that was changed while its old hash was being renewed stays.
func TestPasswordChangedMeanwhileIsNotRehashedAway(t *testing.T) {
	service := New(sqldbtest.New(t, sqldb.SQLite), Config{})
	company, owner, err := service.CreateCompany(t.Context(), NewCompany{Name: "Rede", Email: "ana@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	checked := storedUser{User: owner, passwordHash: "old"}
	for hash, want := range map[string]string{"old": "old, anew", "changed": "changed"} {
		err := service.db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if err := service.setPassword(t.Context(), Operator(company).In(tx), passwordSet{PasswordSet, owner, hash, false}); err != nil {
				return err
			}
			return service.rehash(t.Context(), tx, checked, "old, anew")
		})
		if got, findErr := userByID(t.Context(), service.db, company.ID, owner.ID); err != nil || findErr != nil || got.passwordHash != want {
			t.Errorf("%q became %q, %v, %v", hash, got.passwordHash, err, findErr)
		}
	}
}
