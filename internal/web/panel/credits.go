package panel

import (
	"cmp"
	"context"
	"strings"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// entryWords are the kinds of entries as people read them.
var entryWords = map[reseller.EntryKind]string{
	reseller.Granted: "Granted at the top", reseller.ForCreate: "New subscriber",
	reseller.ForRenew: "Renewal", reseller.Sent: "Sent to a reseller",
	reseller.Received:  "Received from the company above",
	reseller.TakenBack: "Taken back from a reseller",
	reseller.Returned:  "Taken back by the company above",
}

type creditsData struct {
	kit.Listing
	Balance int64
	List    []entryRow
	Grant   bool // the company is at the top, and makes credits by itself
	Sells   bool // has the pages of resellers
}

type entryRow struct {
	reseller.Entry
	Text, Who string
	Link      string // to the reseller; "": not one's own
}

func entryChips(req *kit.Request) []kit.ChipLine {
	kinds := kit.WordOptions(req, entryKinds(req), entryWords, req.Option("", "All movements"))
	return []kit.ChipLine{kit.ChoiceChips(req, "What", "kind", kinds), kit.DateChips(req, "from", "to", false)}
}

// entryKinds are the kinds of entries that the company can have.
func entryKinds(req *kit.Request) (kinds []reseller.EntryKind) {
	if req.Actor.Company.ParentID == 0 {
		kinds = append(kinds, reseller.Granted)
	} else {
		kinds = append(kinds, reseller.Received, reseller.Returned)
	}
	if req.Sells() {
		kinds = append(kinds, reseller.ForCreate, reseller.ForRenew, reseller.Sent, reseller.TakenBack)
	}
	return kinds
}

func (s *Server) credits(req *kit.Request) error {
	data := creditsData{Listing: kit.NewList(req, "/credits/export", entryChips(req), "from", "to"), Sells: req.Sells()}
	data.Heads = kit.TimeHeads(req)
	var sums reseller.Sums
	rows := func(ctx context.Context, actor account.Actor, filter reseller.EntryFilter, at input.Page) ([]reseller.Entry, int64, error) {
		list, found, err := s.Resellers.Entries(ctx, actor, filter, at)
		sums = found
		return list, found.Count, err
	}
	from := kit.ListOf(account.CreditList, reseller.ReadEntryFilter, kit.ByTime, rows)
	list, _ := kit.Fill(req, &data.Listing, from)
	data.Total, data.Grant = entriesFoot(req.Lang, sums), req.Actor.Company.ParentID == 0
	data.Balance, data.List = kit.Read(req, s.Resellers.Balance), s.entryRows(req, list, data.Sells)
	return req.Show("credits", "Credits", data)
}

// entriesFoot is how many entries a filter has, and what they come to.
func entriesFoot(lang page.Lang, sums reseller.Sums) string {
	text := kit.CountedTo(lang, sums.Count, reseller.Countable, "1 movement", "%s movements")
	if sums.Count >= reseller.Countable {
		return text
	}
	return text + " · " + lang.T("%s came, %s left", page.FormatInt(sums.Came), page.FormatInt(sums.Left))
}

func (s *Server) entryRows(req *kit.Request, list []reseller.Entry, links bool) []entryRow {
	names, rows := s.doers(req, list), make([]entryRow, len(list))
	for i, entry := range list {
		rows[i] = entryRow{Entry: entry, Text: entryWords[entry.Kind], Who: doer(req.Lang, names, entry)}
		if links && entry.Reseller.ID != 0 && !byTheOther(entry) {
			rows[i].Link = resellerPath(entry.Reseller.ID)
		}
	}
	return rows
}

// byTheOther reports whether the parent made an entry. Its child is not shown
// which of the parent's people did.
func byTheOther(entry reseller.Entry) bool {
	return entry.Kind == reseller.Received || entry.Kind == reseller.Returned
}

// doers are the names of the company's users and tokens that made entries.
func (s *Server) doers(req *kit.Request, list []reseller.Entry) map[string]string {
	var by []string
	for _, entry := range list {
		if !byTheOther(entry) {
			by = append(by, entry.By)
		}
	}
	return s.ActorNames(req, by)
}

func doer(lang page.Lang, names map[string]string, entry reseller.Entry) string {
	if byTheOther(entry) {
		return entry.Reseller.Name
	}
	return kit.ActorText(lang, names, entry.By)
}

// course is one of the two ways that credits go.
type course struct {
	Title, Button string
	Sends         bool
	quote         func(ctx context.Context, actor account.Actor, id int64, request reseller.CreditRequest) (reseller.Movement, error)
	move          func(ctx context.Context, actor account.Actor, id int64, request reseller.CreditRequest) (reseller.Moved, error)
	done          string
}

// course is the way that the path names.
func (s *Server) course(req *kit.Request) course {
	if strings.HasSuffix(req.URL.Path, "/send") {
		return course{
			"Send credits", "Send credits", true, s.Resellers.QuoteTransfer, s.Resellers.Transfer,
			"Credits sent to %s. You have %d left; it has %d.",
		}
	}
	return course{
		"Take credits back", "Take credits back", false, s.Resellers.QuoteTakeBack, s.Resellers.TakeBack,
		"Credits taken back from %s. You have %d now; it has %d.",
	}
}

type moveData struct {
	Course       course
	Form         *page.Form
	Movement     reseller.Movement
	Action, Back string
	Ask          bool // all is well: it is to be confirmed
}

// movePage asks how many credits. Once it knows, it says what will happen and
// asks whether to do it.
func (s *Server) movePage(req *kit.Request) error {
	asked := req.URL.Query().Has("amount")
	movement, err := s.course(req).quote(req.Context(), req.Actor, req.ID, reseller.ReadCreditRequest(req.Query()))
	if err != nil && !kit.Refused(err) {
		return err
	}
	form := kit.QueryForm(req)
	if asked {
		form.Fail(err)
	} else {
		err = nil
	}
	return s.moveForm(req, moveData{Form: form, Movement: movement, Ask: asked && err == nil}, err)
}

func (s *Server) moveForm(req *kit.Request, data moveData, refusal error) error {
	data.Course, data.Action, data.Back = s.course(req), req.URL.Path, resellerPath(req.ID)
	return req.ShowForm("credits_move", data.Course.Title, refusal, data)
}

func (s *Server) move(req *kit.Request) error {
	course, credits := s.course(req), reseller.ReadCreditRequest(req.Input())
	moved, err := course.move(req.Context(), req.Actor, req.ID, credits)
	if err != nil && !kit.Refused(err) {
		return err
	}
	movement, failed := course.quote(req.Context(), req.Actor, req.ID, credits)
	if failed != nil && !kit.Refused(failed) {
		return failed
	}
	if err != nil {
		return s.moveForm(req, moveData{Form: page.Sent(req.Request, err), Movement: movement}, err)
	}
	return req.Done(resellerPath(req.ID), course.done, movement.Reseller.Name, moved.Balance, moved.ResellerBalance)
}

// grantData is the form by which a company at the top makes credits.
type grantData struct {
	Form    *page.Form
	Balance int64
	Top     bool // others get theirs from the company above
}

func (s *Server) grantForm(req *kit.Request, form *page.Form, refusal error) error {
	data := grantData{cmp.Or(form, page.NewForm()), kit.Read(req, s.Resellers.Balance), req.Actor.Company.ParentID == 0}
	return req.ShowForm("credits_grant", "Grant credits", refusal, data)
}

func (s *Server) grantCredits(req *kit.Request) error {
	balance, err := s.Resellers.Grant(req.Context(), req.Actor, reseller.ReadCreditRequest(req.Input()))
	return req.Sent(err, s.grantForm, "/credits", "The credits were granted. You have %d now.", balance)
}
