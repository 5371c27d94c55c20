package panel

import (
	"cmp"
	"fmt"
	"io"
	"net/url"

	"carteira/internal/billing"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/money"
	"carteira/internal/platform/taxid"
	"carteira/internal/platform/workbook"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

// monthLine is a figure of a month as people read it.
type monthLine struct {
	Label  string
	Link   string // of its rows
	Count  int64
	Amount money.Cents
}

type monthData struct {
	Tabs             paymentTabs
	Month            string // 2026-01
	Name             string // 01/2026
	Before, After    string // the months on either side; After is empty for the present one
	Received         monthLine
	Refunds          monthLine
	Net              money.Cents
	Means, Plans     []monthLine
	Days             []monthLine
	Other            []monthLine
	Open             monthLine
	Last             civil.Date
	Closed, CanClose bool
	TaxID            string
}

// monthWords are the parts of a month as pages name them.
var monthWords = map[billing.MonthPart]string{
	billing.MonthReceived: "Received", billing.MonthRefunds: "Given back", billing.MonthCredit: "Paid with credit (no money came)",
	billing.MonthDiscounts: "Discounts until the due date", billing.MonthGiven: "Discounts by hand",
	billing.MonthWriteOffs: "Write-offs",
	billing.MonthFees:      "Late fees", billing.MonthInterest: "Late interest", billing.MonthOpen: "Open at the end of the month",
}

// askedMonth is the month that a request is about.
func askedMonth(req *kit.Request) billing.MonthQuestion {
	in := req.Query()
	in.Ignore("page", "per_page")
	question := billing.ReadMonthQuestion(in, req.Today)
	req.Note(in.Err())
	return question
}

// monthOf is the month of a day, as addresses name it: 2026-01.
func monthOf(day civil.Date) string { return day.String()[:len("2006-01")] }

// monthPath is the page of a month.
func monthPath(first civil.Date) string { return "/payments/month?month=" + monthOf(first) }

// monthLink is the address of the rows of a figure.
func monthLink(month string, part billing.MonthPart, key, value string) string {
	query := url.Values{"month": {month}, "of": {string(part)}}
	if key != "" {
		query.Set(key, value)
	}
	return "/payments/month/rows?" + query.Encode()
}

func (s *Server) month(req *kit.Request) error {
	month := kit.ReadOf(req, s.Billing.Month, askedMonth(req).First)
	if req.Failed != nil {
		return req.Failed
	}
	data := s.monthData(req, month)
	data.Tabs = s.paymentTabs(req, "month")
	return req.Show("month", "The month", data)
}

func (s *Server) monthData(req *kit.Request, month billing.Month) monthData {
	text := monthOf(month.First)
	line := func(part billing.MonthPart) monthLine {
		figure := month.Parts[part]
		return monthLine{req.Lang.T(monthWords[part]), monthLink(text, part, "", ""), figure.Count, figure.Amount}
	}
	closed := !req.Actor.Company.Settings.ClosedThrough.Before(month.Last)
	data := monthData{
		Month: text, Name: text[5:] + "/" + text[:4], Last: month.Last, Net: month.Net(), Closed: closed,
		Before:   monthOf(month.First.AddDays(-1)),
		Received: line(billing.MonthReceived), Refunds: line(billing.MonthRefunds), Open: line(billing.MonthOpen),
		CanClose: !closed && month.Last.Before(req.Today) && kit.Allows(req.User.Role, owner),
		TaxID:    taxid.Format(req.Actor.Company.CpfCnpj),
	}
	if month.Last.Before(req.Today) {
		data.After = monthOf(month.Last.AddDays(1))
	}
	lines := func(list []billing.MonthFigure, key string, label func(billing.MonthFigure) string) (lines []monthLine) {
		for _, figure := range list {
			link := monthLink(text, billing.MonthReceived, key, figure.Key)
			lines = append(lines, monthLine{label(figure), link, figure.Count, figure.Amount})
		}
		return lines
	}
	data.Means = lines(month.ByMeans, "paid_via", func(figure billing.MonthFigure) string { return s.through(req, figure.Key) })
	data.Plans = lines(month.ByPlan, "plan_id", func(figure billing.MonthFigure) string { return cmp.Or(figure.Name, req.Lang.T("No plan")) })
	data.Days = lines(month.ByDay, "day", func(figure billing.MonthFigure) string { return page.FormatDate(civil.MustParse(figure.Key)) })
	for _, part := range []billing.MonthPart{
		billing.MonthCredit, billing.MonthDiscounts, billing.MonthGiven, billing.MonthWriteOffs, billing.MonthFees, billing.MonthInterest,
	} {
		data.Other = append(data.Other, line(part))
	}
	return data
}

type monthRowsData struct {
	Back  string
	Of    string // the page that Back leads to
	Title string
	Empty string
	Rows  []monthRow
	Total billing.MonthFigure
	Pager page.Pager
}

type monthRow struct {
	billing.MonthRow
	Through string
}

func (s *Server) monthRows(req *kit.Request) error {
	question := askedMonth(req)
	if req.Failed != nil {
		return req.Failed
	}
	paging := req.Query().Page()
	rows, total := kit.ReadPage(req, s.Billing.MonthRows, question, paging)
	data := monthRowsData{
		Back: monthPath(question.First), Of: req.Lang.T("The month"),
		Title: req.Lang.T(monthWords[question.Part]), Empty: req.Lang.T("Nothing in this month."), Total: total,
		Pager: page.NewPager(req.URL, paging, total.Count),
	}
	for _, row := range rows {
		data.Rows = append(data.Rows, monthRow{row, s.throughIfAny(req, row.Via)})
	}
	return req.Show("month_rows", "The month", data)
}

func (s *Server) throughIfAny(req *kit.Request, via string) string {
	if via == "" {
		return ""
	}
	return s.through(req, via)
}

// closeMonth closes the books through the month's last day.
func (s *Server) closeMonth(req *kit.Request) error {
	question := billing.ReadMonthQuestion(req.Input(), req.Today)
	path := monthPath(question.First)
	draft, err := question.CloseMonth(req.Actor.Company)
	if err == nil {
		_, err = s.Accounts.SetCompany(req.Context(), req.Actor, draft)
	}
	if err != nil {
		return req.Complain(path, err)
	}
	return req.Done(path, "The month is closed.")
}

// exportMonth sends the month as a workbook: a sheet of figures, and one with the
// rows of each part.
func (s *Server) exportMonth(req *kit.Request) error {
	question := askedMonth(req)
	month := kit.ReadOf(req, s.Billing.Month, question.First)
	if req.Failed != nil {
		return req.Failed
	}
	data := s.monthData(req, month)
	pages := []workbook.Page{{Name: req.Lang.T("Summary"), Rows: func(write func(...any) error) error { return data.summary(req, write) }}}
	for _, part := range billing.MonthParts {
		part := billing.MonthQuestion{First: question.First, Part: part}
		pages = append(pages, workbook.Page{Name: sheetName(req.Lang.T(monthWords[part.Part])), Rows: func(write func(...any) error) error {
			return s.writeMonthRows(req, part, write)
		}})
	}
	const kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	kit.SendFile(req, "mes-"+data.Month+".xlsx", kind, func(to io.Writer) error { return workbook.Write(to, pages) })
	return nil
}

// sheetName is a name that a sheet can have.
func sheetName(name string) string {
	runes := []rune(name)
	return string(runes[:min(len(runes), 31)])
}

func (d monthData) summary(req *kit.Request, write func(...any) error) error {
	sections := []struct {
		title string
		lines []monthLine
	}{
		{d.Name, append([]monthLine{d.Received, d.Refunds, {Label: req.Lang.T("Received less what went back"), Amount: d.Net}}, d.Other...)},
		{"", []monthLine{d.Open}},
		{req.Lang.T("By means"), d.Means},
		{req.Lang.T("By plan"), d.Plans},
		{req.Lang.T("By day"), d.Days},
	}
	for _, section := range sections {
		if err := write(section.title, req.Lang.T("Amount"), req.Lang.T("Rows")); err != nil {
			return err
		}
		for _, line := range section.lines {
			if err := write(line.Label, line.Amount, line.Count); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Server) writeMonthRows(req *kit.Request, question billing.MonthQuestion, write func(...any) error) error {
	t := req.Lang.T
	if err := write(t("Day"), t("Customer"), t("Invoice"), t("Through"), t("Plan"), t("Amount"), t("Note")); err != nil {
		return err
	}
	return s.Billing.WalkMonth(req.Context(), req.Actor, question, func(row billing.MonthRow) error {
		return write(row.On, row.Customer, row.InvoiceID, s.throughIfAny(req, row.Via), row.Plan, row.Amount, row.Note)
	})
}

type forecastData struct {
	Tabs                               paymentTabs
	Expected, Issued, Planned, Overdue monthLine
	Chart                              page.Bars
	Days                               []forecastDay // those on which something is expected
	Received                           string        // the list of what the line is made of; empty: it cannot be seen
}

type forecastDay struct {
	monthLine
	Sum money.Cents // of this day and those before
}

// forecastWords are the parts of a forecast as pages name them.
var forecastWords = map[billing.ForecastPart]string{
	"": "Expected in 30 days", billing.ForecastIssued: "Open invoices",
	billing.ForecastPlanned: "Not issued yet", billing.ForecastOverdue: "In arrears",
}

// forecastLink is the address of the rows of a figure.
func forecastLink(key, value string) string {
	query := url.Values{}
	if value != "" {
		query.Set(key, value)
	}
	return "/payments/forecast/rows?" + query.Encode()
}

func (s *Server) forecast(req *kit.Request) error {
	forecast := kit.Read(req, s.Billing.Forecast)
	line := func(part billing.ForecastPart, figure billing.MonthFigure) monthLine {
		return monthLine{req.Lang.T(forecastWords[part]), forecastLink("of", string(part)), figure.Count, figure.Amount}
	}
	data := forecastData{
		Expected: line("", forecast.Expected()),
		Issued:   line(billing.ForecastIssued, forecast.Parts[billing.ForecastIssued]),
		Planned:  line(billing.ForecastPlanned, forecast.Parts[billing.ForecastPlanned]),
		Overdue:  line(billing.ForecastOverdue, forecast.Parts[billing.ForecastOverdue]),
		Chart:    forecastChart(req, forecast),
	}
	var sum money.Cents
	for _, day := range forecast.Days {
		if sum += day.Expected.Amount; day.Expected.Count == 0 {
			continue
		}
		link := forecastLink("day", day.Date.String())
		data.Days = append(data.Days, forecastDay{
			monthLine{page.FormatDate(day.Date), link, day.Expected.Count, day.Expected.Amount}, sum,
		})
	}
	if len(data.Chart.Ghosts) > 0 && req.Actor.May(payments) {
		to := forecast.Before.AddDays(billing.ForecastDays - 1)
		data.Received = "/payments?from=" + forecast.Before.String() + "&to=" + to.String()
	}
	data.Tabs = s.paymentTabs(req, "forecast")
	return req.Show("forecast", "Forecast", data)
}

// forecastChart holds what is expected, added up day by day, against what had been
// received a month before. Without money in that month it has no line.
func forecastChart(req *kit.Request, forecast billing.Forecast) page.Bars {
	var expected, received money.Cents
	bars, came := make([]page.Bar, len(forecast.Days)), false
	for n, day := range forecast.Days {
		expected, received = expected+day.Expected.Amount, received+day.Received
		came = came || day.Received != 0
		bars[n] = page.Bar{
			Label: fmt.Sprintf("%02d", day.Date.Day()), Value: expected, Ghost: max(received, 0),
			Title: req.Lang.T("until %s: %s expected", page.FormatDate(day.Date), expected.BR()),
		}
		if !day.Passed {
			bars[n].Ghost = -1
		} else if came {
			bars[n].Title += "; " + req.Lang.T("%s received a month before", received.BR())
		}
	}
	for n := range bars {
		if !came {
			bars[n].Ghost = -1
		}
	}
	return page.NewBars(req.Lang.T("Expected, added up day by day"), bars)
}

func (s *Server) forecastRows(req *kit.Request) error {
	in := req.Query()
	paging, question := in.Page(), billing.ReadForecastQuestion(in)
	if err := in.Err(); err != nil {
		return err
	}
	rows, total := kit.ReadPage(req, s.Billing.ForecastRows, question, paging)
	data := monthRowsData{
		Back: "/payments/forecast", Of: req.Lang.T("Forecast"), Title: req.Lang.T(forecastWords[question.Part]),
		Empty: req.Lang.T("Nothing is expected."), Total: total, Pager: page.NewPager(req.URL, paging, total.Count),
	}
	if !question.Day.IsZero() {
		data.Title = req.Lang.T("Expected on %s", page.FormatDate(question.Day))
	}
	for _, row := range rows {
		data.Rows = append(data.Rows, monthRow{MonthRow: row})
	}
	return req.Show("month_rows", "Forecast", data)
}
