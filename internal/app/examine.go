package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/customer"
	"carteira/internal/doctor"
	"carteira/internal/platform/checkup"
	"carteira/internal/platform/config"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/keyring"
	"carteira/internal/platform/secret"
	"carteira/internal/platform/sqldb"
	"carteira/internal/sandbox"
	"carteira/internal/tally"
)

// Examination is what to check, and what to do about it.
type Examination struct {
	Online bool // also ask gateways, channels and our own public address
	Fix    bool // compute recounts where they are wrong
}

// Examine checks everything that can be wrong with an installation, and
// reports each finding at once. It corrects counts if asked to, and changes
// nothing else.
func Examine(ctx context.Context, cfg config.Config, examination Examination, found func(checkup.Finding)) {
	now := time.Now
	for _, check := range doctor.Surroundings(cfg, now) {
		found(check.Do(ctx))
	}
	if missing := missingDatabase(cfg); missing != nil {
		found(*missing)
		return
	}
	quiet := slog.New(slog.DiscardHandler)
	db, err := sqldb.Open(ctx, cfg.DatabaseURL, sqldb.Options{Log: quiet})
	if err != nil {
		finding := checkup.Bad("see that it runs, and that CARTEIRA_DATABASE_URL is right",
			"the database cannot be opened: %v", err)
		finding.Check = "database"
		found(finding)
		return
	}
	defer db.Close() //nolint:errcheck // nothing is lost with it
	examineDatabase(ctx, examined{cfg, quiet, db}, examination, found)
}

type examined struct {
	config config.Config
	log    *slog.Logger
	db     *sqldb.DB
}

func examineDatabase(ctx context.Context, examined examined, examination Examination, found func(checkup.Finding)) {
	schema, current := doctor.Schema(ctx, examined.db)
	found(schema)
	for _, check := range doctor.Database(examined.config, examined.db) {
		found(check.Do(ctx))
	}
	key, keys := checkKey(ctx, examined)
	found(key)
	if !current || keys == nil {
		return
	}
	moved, err := sandbox.Open(ctx, examined.db, false)
	if err != nil {
		found(checkup.Bad("see what the database says", "the kind of installation cannot be read: %s", err))
		return
	}
	program := assemble(examined.config, examined.log, examined.db, secret.NewBox(keys[0], keys[1:]...), moved)
	if examination.Fix {
		found(checkup.Check{Name: "fix", Run: program.correctCounts}.Do(ctx))
	}
	checks := program.dataChecks()
	if examination.Online {
		checks = append(checks, program.onlineChecks()...)
	}
	for _, check := range checks {
		found(check.Do(ctx))
	}
}

// missingDatabase keeps doctor from making the database that it looks for.
func missingDatabase(cfg config.Config) *checkup.Finding {
	if err := refuseHalf(cfg); err != nil && exists(sqlitePath(cfg)) {
		finding := checkup.Bad("bring a backup back with `carteira restore FILE`; it takes the place of the empty file", "%v", err)
		finding.Check = "database"
		return &finding
	}
	if !cfg.Embedded() || exists(sqlitePath(cfg)) {
		return nil
	}
	finding := checkup.Bad(
		"is CARTEIRA_DATA_DIR right? `carteira serve` makes a new one, `carteira restore FILE` brings one back",
		"there is no database %s", sqlitePath(cfg))
	finding.Check = "database"
	return &finding
}

// checkKey reports whether the key is there and the right one; without one,
// no keys are returned.
func checkKey(ctx context.Context, examined examined) (checkup.Finding, []secret.Key) {
	finding, keys := func() (checkup.Finding, []secret.Key) {
		keys, err := givenKeys(examined.config)
		if err != nil {
			return checkup.Bad("put the key file back, or give its content in CARTEIRA_SECRET_KEY", "%v", err), nil
		}
		if err := keyring.Check(ctx, examined.db, keys[0], keys[1:]...); err != nil {
			return checkup.Bad("without the right key nothing that is encrypted can be read", "%v", err), nil
		}
		return checkup.Good("the key opens the database's secrets; keep a copy of it apart from the backups"), keys
	}()
	finding.Check = "key"
	return finding, keys
}

// dataChecks are those of the tables, which also run every night.
func (a *App) dataChecks() []checkup.Check {
	return []checkup.Check{
		{Name: "counts", Run: a.checkCounts},
		{Name: "payments", Run: a.Billing.CheckLedger},
		{Name: "customers' credit", Run: a.Billing.CheckCredit},
		{Name: "credits", Run: a.Resellers.CheckCredits},
		{Name: "charges", Run: a.Payments.CheckCharges},
		{Name: "delivery queue", Run: a.Webhooks.CheckQueue},
		{Name: "phones", Run: a.Customers.CheckPhones},
		{Name: "webhooks", Run: a.Webhooks.CheckWebhooks},
		{Name: "reviews", Run: a.Payments.CheckReviews},
	}
}

// eachRecount calls do for each counter of each company.
func (a *App) eachRecount(ctx context.Context, do func(scope tally.Scope, recount tally.Recount) error) error {
	companies, err := a.Accounts.Companies(ctx)
	if err != nil {
		return err
	}
	for _, company := range companies {
		today := account.System(company, "doctor").Today(a.DB.Now())
		for _, recount := range slices.Concat(account.Recounts(), customer.Recounts(), billing.Recounts()) {
			if err := do(tally.Scope{CompanyID: company.ID, Today: today}, recount); err != nil {
				return fmt.Errorf("%s of company %d: %w", recount.Counter, company.ID, err)
			}
		}
	}
	return nil
}

func (a *App) checkCounts(ctx context.Context) (checkup.Finding, error) {
	var wrong []string
	err := a.eachRecount(ctx, func(scope tally.Scope, recount tally.Recount) error {
		differences, err := recount.Differences(ctx, a.DB, scope)
		name := fmt.Sprintf("%s of company %d", recount.Counter, scope.CompanyID)
		if len(differences) > 0 && !slices.Contains(wrong, name) {
			wrong = append(wrong, name)
		}
		return err
	})
	if err != nil || len(wrong) == 0 {
		return checkup.Good("all counts are those of the records"), err
	}
	return checkup.Bad("run `carteira doctor --fix`, which counts anew", "counts differ from the records: %s",
		strings.Join(wrong, ", ")), nil
}

func (a *App) correctCounts(ctx context.Context) (checkup.Finding, error) {
	corrected := 0
	err := a.eachRecount(ctx, func(scope tally.Scope, recount tally.Recount) error {
		n, err := recount.Correct(ctx, a.DB, scope)
		corrected += n
		return err
	})
	return checkup.Good("%d counts were corrected", corrected), err
}

// onlineTime bounds each call to another service.
const onlineTime = 15 * time.Second

// onlineChecks are those that ask others.
func (a *App) onlineChecks() []checkup.Check {
	return []checkup.Check{
		{Name: "reachable", Run: a.checkReachable},
		{Name: "gateways", Run: a.checkGateways},
		{Name: "message channels", Run: a.checkChannels},
	}
}

func (a *App) checkReachable(ctx context.Context) (checkup.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, onlineTime)
	defer cancel()
	address := a.Config.PublicURL + "/healthz"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return checkup.Finding{}, err
	}
	resp, err := http.DefaultClient.Do(req) //nolint:forbidigo // the address is the operator's, not a company's
	if err != nil {
		return checkup.Bad("is the server running, and does the name lead to it?", "%s does not answer: %v", address,
			err), nil
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10))
	if resp.StatusCode != http.StatusOK {
		return checkup.Bad("does another program answer there?", "%s answers %s", address, resp.Status), nil
	}
	return checkup.Good("%s answers", address), nil
}

func (a *App) checkGateways(ctx context.Context) (checkup.Finding, error) {
	return a.askEachCompany(ctx, "gateways", a.Payments.AskGateway)
}

func (a *App) checkChannels(ctx context.Context) (checkup.Finding, error) {
	return a.askEachCompany(ctx, "message channels", a.Reminders.CheckChannels)
}

// askEachCompany makes a call on behalf of each company, and collects the
// failures.
func (a *App) askEachCompany(
	ctx context.Context, what string, ask func(context.Context, account.Actor) (asked int, err error),
) (checkup.Finding, error) {
	companies, err := a.Accounts.Companies(ctx)
	if err != nil {
		return checkup.Finding{}, err
	}
	total := 0
	var wrong []string
	for _, company := range companies {
		bounded, cancel := context.WithTimeout(ctx, onlineTime)
		asked, err := ask(bounded, account.System(company, "doctor"))
		cancel()
		total += asked
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("company %d: %s", company.ID, publicOf(err)))
		}
	}
	if len(wrong) > 0 {
		return checkup.Bad("correct their settings in the panel", "%s", strings.Join(wrong, "; ")), nil
	}
	return checkup.Good("%d %s answer", total, what), nil
}

// publicOf is an error in one line, without its private causes.
func publicOf(err error) string {
	if fault.KindOf(err) != fault.KindInternal {
		return fault.Public(err)
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
