package panel

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/dashboard"
	"carteira/internal/payment"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
	"carteira/internal/webhook"
)

type homeData struct {
	Month           dashboard.Month
	Today           money.Cents
	Change          string // against the same days of the month before; "" when it had nothing
	Revenue         page.Bars
	Lists           []dueList
	Months          page.Stacks
	Renewed         int64
	Churn           string // "" when no customer could be lost
	OnTime          string // "" when nothing was paid
	Form            *page.Form
	Plans, Products []page.Option
	Webhooks        []webhook.Webhook // switched off by themselves
	Payments        troubles
	Fresh           bool // there is nothing yet
	Steps           []step
	DoneSteps       int
	DueToday        string // the filter of those who are due today
	Messages        reminder.Attention
	Moved           []kit.DeedRow // changes of where money goes
	Resale          *resale       // nil: the company sells to no resellers
	Received        string        // the list of what was received this month
	Saying          int64         // customers who say that they have paid
}

// dueList is some customers who need a look.
type dueList struct {
	Title, Empty, Link, Tone string
	Customers                []customer.Customer
	Total                    int64
	Today                    civil.Date
}

// DaysLate is how many days ago a customer of the list was due.
func (l dueList) DaysLate(record customer.Customer) int { return max(0, l.Today.Sub(record.DueOn)) }

const homeRows = 6

// dueToday is the filter of customers who are due today.
var dueToday = "status=" + url.QueryEscape(string(customer.DueToday))

func (s *Server) home(req *kit.Request) error {
	in := req.Query()
	question := dashboard.Question{PlanID: in.ID("plan_id").Value, ProductID: in.ID("product_id").Value}
	if !kit.Allows(req.User.Role, viewer) {
		return s.homeNotices(req, homeData{DueToday: dueToday})
	}
	month := kit.ReadOf(req, s.Dashboard.Month, question)
	data := homeData{Month: month, Revenue: s.revenue(req, month)}
	data.Fresh = month.Customers.Total == 0 && question == (dashboard.Question{})
	data.Received = receivedList(req, month, question)
	if renewed := month.Customers.Renewed; renewed != nil {
		data.Renewed = *renewed
	}
	data.Months, data.Form = s.twelveMonths(req, month), kit.QueryForm(req)
	data.Churn, data.OnTime = percentBR(month.Recurring.Churn), percentBR(month.Punctuality.OnTimePercent)
	data.Plans, data.Products = s.Choices(req, true)
	data.Change = change(month.Revenue, req.Today)
	for _, day := range month.Revenue.ByDay {
		if day.Date == req.Today {
			data.Today = day.Amount
		}
	}
	data.DueToday = dueToday
	if question == (dashboard.Question{}) {
		data.Steps = s.firstSteps(req, month.Customers.Total > 0)
		for _, step := range data.Steps {
			if step.Done {
				data.DoneSteps++
			}
		}
	}
	return s.homeNotices(req, data)
}

// change compares what came up to today with the same days of the month before; ""
// when they had nothing.
func change(revenue dashboard.Revenue, today civil.Date) string {
	var now, before money.Cents
	for i, day := range revenue.ByDay {
		if day.Date.After(today) {
			break
		}
		now += day.Amount
		if i < len(revenue.PreviousByDay) {
			before += revenue.PreviousByDay[i].Amount
		}
	}
	if before <= 0 {
		return ""
	}
	return strings.Replace(fmt.Sprintf("%+.1f%%", float64(now-before)*100/float64(before)), ".", ",", 1)
}

// receivedList is where the money of a month is listed. That of one plan or product
// no list of payments knows: the invoices that were paid are nearest to it.
func receivedList(req *kit.Request, month dashboard.Month, question dashboard.Question) string {
	days := month.Revenue.ByDay
	if question != (dashboard.Question{}) || !req.Actor.May(payments) || len(days) == 0 {
		return month.Links["invoices.paid.count"]
	}
	return "/payments?from=" + days[0].Date.String() + "&to=" + days[len(days)-1].Date.String()
}

// homeNotices adds who and what needs a look, and shows the page.
func (s *Server) homeNotices(req *kit.Request, data homeData) error {
	data.Lists, data.Webhooks, data.Payments = s.dueLists(req), s.brokenWebhooks(req), s.paymentTroubles(req)
	data.Messages, data.Moved, data.Resale = s.messageNotices(req), s.gatewayChanges(req), s.resale(req)
	data.Saying = kit.Read(req, s.Payments.SayingPaid)
	return req.Show("home", "Home", data)
}

func (s *Server) revenue(req *kit.Request, month dashboard.Month) page.Bars {
	bars := make([]page.Bar, len(month.Revenue.ByDay))
	for i, day := range month.Revenue.ByDay {
		bars[i] = page.Bar{
			Label: fmt.Sprintf("%02d", day.Date.Day()), Value: day.Amount, Note: day.Date == req.Today, Ghost: -1,
			Title: page.FormatDate(day.Date) + ": " + day.Amount.BR(),
		}
		if before := month.Revenue.PreviousByDay; i < len(before) && month.Revenue.PreviousMonth > 0 {
			bars[i].Ghost = max(before[i].Amount, 0)
		}
	}
	return page.NewBars(req.Lang.T("Received by day"), bars)
}

// twelveMonths shows what came of each month and what of it is still to come.
func (s *Server) twelveMonths(req *kit.Request, month dashboard.Month) page.Stacks {
	stacks := make([]page.Stack, len(month.Months))
	for n, period := range month.Months {
		label := period.Month[5:] + "/" + period.Month[2:4]
		stacks[n] = page.Stack{
			Label: label,
			Parts: []money.Cents{period.Received, period.Open, period.Overdue},
			Title: label + ": " + req.Lang.T("received %s, open %s, overdue %s", period.Received.BR(), period.Open.BR(), period.Overdue.BR()),
		}
	}
	return page.NewStacks(req.Lang.T("Twelve months"), stacks)
}

// percentBR writes a percentage as people in Brazil do; "" where there is none.
func percentBR(percent *float64) string {
	if percent == nil {
		return ""
	}
	return strings.Replace(fmt.Sprintf("%.1f%%", *percent), ".", ",", 1)
}

func (s *Server) dueLists(req *kit.Request) []dueList {
	tomorrow := req.Today.AddDays(1)
	lists := []dueList{
		{Title: "Customers due today", Empty: "Nobody is due today.", Link: "/customers?" + dueToday, Tone: "warn"},
		{
			Title: "Customers due tomorrow", Empty: "Nobody is due tomorrow.", Tone: "note",
			Link: "/customers?due_from=" + tomorrow.String() + "&due_to=" + tomorrow.String(),
		},
		{
			Title: "Customers expired", Empty: "Nobody is expired.", Tone: "bad",
			Link: "/customers?status=" + url.QueryEscape(string(customer.Expired)),
		},
	}
	filters := []customer.Filter{{Status: customer.DueToday}, {DueFrom: tomorrow, DueTo: tomorrow}, {Status: customer.Expired}}
	for i, filter := range filters {
		lists[i].Today = req.Today
		first := input.Page{Number: 1, Size: homeRows}
		query := customer.Query{Filter: filter, Sort: input.ByDueDate}
		lists[i].Customers, lists[i].Total = kit.ReadPage(req, s.Customers.Sorted, query, first)
	}
	return lists
}

// moneyNoticeDays is how long the home page shows a notice of another gateway or
// PIX key.
const moneyNoticeDays = 7

// movesCookie is the newest change of where money goes that the person at this browser
// has seen. It is the browser's: a thief's "It was me" hides nothing from the others.
const movesCookie = "carteira_moves"

// gatewayChanges are the changes of where the company's money goes in the last
// week, for its owners: who did not make them must see them. Those that this
// person made from here, or has said to know of, are left out.
func (s *Server) gatewayChanges(req *kit.Request) []kit.DeedRow {
	if !kit.Allows(req.User.Role, owner) {
		return nil
	}
	lines := s.AuditLines(req, account.AuditFilter{Record: "gateway", Since: s.DB.Now().AddDate(0, 0, -moneyNoticeDays)}, 5)
	seen, _ := strconv.ParseInt(kit.CookieValue(req.Request, movesCookie), 10, 64)
	return kit.DeedRows(req, slices.DeleteFunc(lines, func(line account.AuditLine) bool {
		return line.ID <= seen || line.UserID == req.User.ID && line.Address == req.Visitor().Address
	}))
}

// knowMove closes the notice of a change of where money goes, at this browser.
func (s *Server) knowMove(req *kit.Request) error {
	id, err := strconv.ParseInt(req.PostFormValue("id"), 10, 64)
	if err != nil || id < 1 {
		return fault.Field("id", "must be the id of a line of the audit log")
	}
	req.SetCookie(movesCookie, strconv.FormatInt(id, 10), 2*moneyNoticeDays*24*time.Hour)
	return req.GoOn("/")
}

// brokenWebhooks are those that were switched off by their failures.
func (s *Server) brokenWebhooks(req *kit.Request) []webhook.Webhook {
	if !kit.Allows(req.User.Role, owner) {
		return nil
	}
	return slices.DeleteFunc(kit.Read(req, s.Webhooks.List), func(hook webhook.Webhook) bool { return hook.Active || hook.Notice == "" })
}

// resale is what the home page of a company with resellers shows of them.
type resale struct {
	Balance int64
	Ending  []endingList
}

// endingList is resellers with a trial or subscription that ends soon.
type endingList struct {
	Title, Empty, Link string
	List               []resellerRow
	Total              int64
}

// resale is nil for who may not see it, and for a company without a level, a
// function or a reseller for it.
func (s *Server) resale(req *kit.Request) *resale {
	if !req.Sells() || !kit.Allows(req.User.Role, viewer) {
		return nil // there is nothing to show
	}
	if _, all := kit.ReadPage(req, s.Resellers.List, reseller.Filter{}, input.Page{Number: 1, Size: 1}); all == 0 {
		return nil
	}
	return &resale{kit.Read(req, s.Resellers.Balance), []endingList{
		s.endingSoon(req, account.StandingTrial), s.endingSoon(req, account.StandingActive),
	}}
}

// endingWords are the title of such a list, and the text for an empty one.
var endingWords = map[account.Standing][2]string{
	account.StandingTrial:  {"Trials that end in 7 days", "No trial ends in the next 7 days."},
	account.StandingActive: {"Subscriptions that end in 7 days", "No subscription ends in the next 7 days."},
}

// endingSoon lists some of the resellers in a standing that ends within a week.
func (s *Server) endingSoon(req *kit.Request, standing account.Standing) (ending endingList) {
	until := req.Today.AddDays(kit.NoticeDays)
	filter := reseller.Filter{Status: standing, ExpiresFrom: req.Today, ExpiresTo: until}
	first := input.Page{Number: 1, Size: homeRows}
	list, total := kit.ReadPage(req, s.Resellers.List, filter, first)
	ending.Total, ending.Title, ending.Empty = total, endingWords[standing][0], endingWords[standing][1]
	ending.Link = "/resellers?status=" + string(standing) +
		"&expires_from=" + req.Today.String() + "&expires_to=" + until.String()
	for _, seller := range list {
		ending.List = append(ending.List, resellerRowOf(req, seller, s.DB.Now()))
	}
	return ending
}

// troubles are what the home page says about payments.
type troubles struct {
	Reviews int64
	Gateway *payment.Setup // that fails; nil: none does
	Title   string         // its name
}

// paymentTroubles finds what the people of the company should act on.
func (s *Server) paymentTroubles(req *kit.Request) (troubles troubles) {
	if !kit.Allows(req.User.Role, staff) || !req.Actor.May(payments) {
		return troubles
	}
	troubles.Reviews = s.paymentTabs(req, "").Open
	if setup, found := s.gateway(req); found && setup.Failing() {
		troubles.Gateway, troubles.Title = &setup, optionWord(req.Lang, setup.Provider.Title)
	}
	return troubles
}
