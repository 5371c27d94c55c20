package panel

import (
	"fmt"
	"net/url"

	"carteira/internal/billing"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
)

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

func (s *Server) forecast(req *request) error {
	forecast := read(req, s.Billing.Forecast)
	line := func(part billing.ForecastPart, figure billing.MonthFigure) monthLine {
		return monthLine{req.lang.T(forecastWords[part]), forecastLink("of", string(part)), figure.Count, figure.Amount}
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
	return s.show(req, page.View{Name: "forecast", Title: "Forecast", Data: data})
}

// forecastChart holds what is expected, added up day by day, against what had been
// received a month before. Without money in that month it has no line.
func forecastChart(req *request, forecast billing.Forecast) page.Bars {
	var expected, received money.Cents
	bars, came := make([]page.Bar, len(forecast.Days)), false
	for n, day := range forecast.Days {
		expected, received = expected+day.Expected.Amount, received+day.Received
		came = came || day.Received != 0
		bars[n] = page.Bar{
			Label: fmt.Sprintf("%02d", day.Date.Day()), Value: expected, Ghost: max(received, 0),
			Title: req.lang.T("until %s: %s expected", page.FormatDate(day.Date), expected.BR()),
		}
		if !day.Passed {
			bars[n].Ghost = -1
		} else if came {
			bars[n].Title += "; " + req.lang.T("%s received a month before", received.BR())
		}
	}
	for n := range bars {
		if !came {
			bars[n].Ghost = -1
		}
	}
	return page.NewBars(req.lang.T("Expected, added up day by day"), bars)
}

func (s *Server) forecastRows(req *request) error {
	in := req.query()
	paging, question := in.Page(), billing.ReadForecastQuestion(in)
	if err := in.Err(); err != nil {
		return err
	}
	rows, total, err := s.Billing.ForecastRows(req.Context(), req.Actor, question, paging)
	req.note(err)
	data := monthRowsData{
		Back: "/payments/forecast", Of: req.lang.T("Forecast"), Title: req.lang.T(forecastWords[question.Part]),
		Empty: req.lang.T("Nothing is expected."), Total: total, Pager: page.NewPager(req.URL, paging, total.Count),
	}
	if !question.Day.IsZero() {
		data.Title = req.lang.T("Expected on %s", page.FormatDate(question.Day))
	}
	for _, row := range rows {
		data.Rows = append(data.Rows, monthRow{MonthRow: row})
	}
	return s.show(req, page.View{Name: "month_rows", Title: "Forecast", Data: data})
}
