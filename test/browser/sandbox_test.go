package browser

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var shownTime = regexp.MustCompile(`\d{2}/\d{2}/\d{4} \d{2}:\d{2}`)

// happened reads how often the page says that something has happened.
func (b *tab) happened(kind string) int {
	b.t.Helper()
	count, err := strconv.Atoi(ask(b, chromedp.Evaluate[string](
		`([...document.querySelectorAll("#happened dt")].find(e => e.innerText == "`+kind+`")?.nextElementSibling.innerText || "0").replace(/\D/g, "")`)))
	if err != nil {
		b.t.Fatal(err)
	}
	return count
}

// clock reads the time that the page of the clock shows.
func (b *tab) clock() time.Time {
	b.t.Helper()
	at, err := time.Parse("02/01/2006 15:04", shownTime.FindString(b.text("#clock h2")))
	if err != nil {
		b.t.Fatal(err)
	}
	return at
}

// arrive waits until the clock is where it was sent: the page shows by itself how
// far it is, and then the buttons again.
func (b *tab) arrive() {
	b.t.Helper()
	b.do(chromedp.WaitVisible(chromedp.CSS(`#clock input[name="to"][type="date"]`)))
}

// The band leads to the clock, a button moves it by a month, and the page says
// what the month has brought: invoices, due dates, reminders. The logs have it too.
func TestClockOfTheSandboxIsMovedInThePanel(t *testing.T) {
	b := startDemo(t).open(t)
	b.signIn("demo@example.com", "demonstracao")
	b.see("Demo Internet")
	b.click(`.band a[href="/sandbox"]`)
	b.see("Aqui o tempo pode ser adiantado")
	before := b.clock()

	b.press("+1 mês")
	b.see("O relógio avança.")
	b.arrive()
	if passed := b.clock().Sub(before); passed < 27*24*time.Hour || passed > 32*24*time.Hour {
		t.Errorf("a month of %s has passed", passed)
	}
	b.do(chromedp.WaitVisible(chromedp.CSS("#happened")))
	for _, kind := range []string{"invoice.created", "customer.expired", "message.sent"} {
		if b.happened(kind) == 0 {
			t.Errorf("no %s in a month", kind)
		}
	}

	issued, sent := b.happened("invoice.created"), b.happened("message.sent")
	tomorrow := b.clock().AddDate(0, 0, 1).Format("02/01/2006")
	b.press("+1 dia")
	b.see(tomorrow)
	b.arrive()
	if b.happened("invoice.created") >= issued || b.happened("message.sent") >= sent {
		t.Errorf("a day has brought %d invoices and %d messages, the month before it %d and %d",
			b.happened("invoice.created"), b.happened("message.sent"), issued, sent)
	}
	b.visit("/settings/audit")
	b.see("Relógio do sandbox adiantado")
	for _, list := range []string{"/messages/log?status=sent", "/invoices"} {
		b.visit(list)
		if newest := newestDay(b.text("main")); newest.Before(before.AddDate(0, 0, 20)) {
			t.Errorf("%s: the newest is of %s", list, newest)
		}
	}
	b.do(chromedp.WaitVisible(chromedp.CSS(`.band a[href="/sandbox"]`)))
}

var shownDay = regexp.MustCompile(`\d{2}/\d{2}/\d{4}`)

// newestDay is the latest day that a page shows.
func newestDay(text string) (newest time.Time) {
	for _, found := range shownDay.FindAllString(text, -1) {
		if day, err := time.Parse("02/01/2006", found); err == nil && day.After(newest) {
			newest = day
		}
	}
	return newest
}
