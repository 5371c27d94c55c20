package kit

import (
	"context"
	"strconv"

	"carteira/internal/account"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
)

// Work over many records goes in two steps: the first form shows what will
// happen, the second one, which says that the reader is sure, has it happen. Each
// record is a use case of its own: one that is refused does not keep the others
// from it. Where nothing leaves the house the whole can be undone for a while.

// BulkPage shows what will happen.
type BulkPage struct {
	Picks
	Action, Path, Back, Title, Button string
	Count                             int // that will change
	Danger                            bool
	Facts                             []Fact
	Effects                           []string // translated
	Rows                              []BulkRow
	More                              int
	Form                              *page.Form
	Plans, Choices                    []page.Option
	Round                             any // what a reminder shows; nil: it is none
}

// Fact is a line of what will happen.
type Fact struct{ Label, Value string }

// BulkRow is one of the records, before and after.
type BulkRow struct{ Name, Before, After, Amount string }

// shownRows is how many records the page names.
const shownRows = 6

// Fact adds a fact.
func (p *BulkPage) Fact(lang page.Lang, label, value string) {
	p.Facts = append(p.Facts, Fact{lang.T(label), value})
}

// Effect adds what will happen.
func (p *BulkPage) Effect(lang page.Lang, texts ...string) {
	for _, text := range texts {
		p.Effects = append(p.Effects, lang.T(text))
	}
}

func (p *BulkPage) row(row BulkRow) {
	if len(p.Rows) < shownRows {
		p.Rows = append(p.Rows, row)
		return
	}
	p.More++
}

// Item is a record that an action is for, and what it does with it.
type Item struct {
	Row     BulkRow
	Amount  money.Cents
	Refusal string // why nothing will happen to it
	Act     func(ctx context.Context, actor account.Actor) error
}

// Work is an action over records that were picked.
type Work struct {
	Title, Button, Said string // in English, with a number
	Danger, Final       bool   // final: it cannot be undone
	Amount              string // what the sum is called
	List                []Item
	Page                BulkPage
}

// Planner says what an action does with the records that were picked.
type Planner func(req *Request, action string, chosen Picks) (*Work, error)

// CarryOut shows what an action will do, or does it.
func (s *Panel) CarryOut(req *Request, path string, plan Planner) error {
	back, action := req.Back(path), req.PostFormValue("action")
	chosen, err := ReadPicks(req)
	if err != nil {
		return req.Complain(back, err)
	}
	job, err := plan(req, action, chosen)
	if err != nil {
		return req.Complain(back, err)
	}
	job.Page.Picks, job.Page.Action, job.Page.Path, job.Page.Back = chosen, action, path, back
	if req.PostFormValue("sure") == "" || req.PostFormValue("agreed") != strconv.Itoa(job.count()) {
		return s.showWork(req, job)
	}
	return s.run(req, job)
}

// count is how many records will change.
func (w *Work) count() (count int) {
	for _, record := range w.List {
		if record.Refusal == "" {
			count++
		}
	}
	return count
}

// showWork shows what will happen; again when it has changed since.
func (s *Panel) showWork(req *Request, job *Work) error {
	view := &job.Page
	view.Count, view.Danger = job.count(), job.Danger
	view.Title, view.Button = req.Lang.T(job.Title, view.Count), req.Lang.T(job.Button, view.Count)
	if view.Form == nil {
		view.Form = page.NewForm()
	}
	var sum money.Cents
	left := map[string]int{}
	for _, record := range job.List {
		if record.Refusal != "" {
			left[record.Refusal]++
			continue
		}
		sum += record.Amount
		view.row(record.Row)
	}
	if job.Amount != "" {
		view.Fact(req.Lang, job.Amount, sum.BR())
	}
	for reason, count := range left {
		view.Facts = append(view.Facts, Fact{req.Lang.T("Left out: %d", count), req.Lang.Reason(reason)})
	}
	if !job.Final {
		view.Effect(req.Lang, "You can undo it for ten minutes.")
	}
	if req.PostFormValue("sure") != "" {
		view.Form.Fail(fault.New(fault.KindConflict, "the list changed meanwhile; look at it again"))
	}
	return req.Show("bulk", view.Title, view)
}

// run has it happen, and says what came of it.
func (s *Panel) run(req *Request, job *Work) error {
	actor, done, reason := req.Batch(), 0, ""
	for _, record := range job.List {
		if record.Refusal != "" {
			continue
		}
		err := record.Act(req.Context(), actor)
		switch {
		case err == nil:
			done++
		case !Refused(err) && fault.KindOf(err) != fault.KindNotFound:
			return err
		default:
			reason = ReasonOf(err)
		}
	}
	undo := actor.Batch
	if job.Final || done == 0 {
		undo = ""
	}
	if all := job.count(); done < all {
		page.ComplainUndo(req.Writer, req.Request, undo, "%d of %d: done. The others were refused: %s", done, all, req.Lang.Reason(reason))
	} else {
		page.SayUndo(req.Writer, req.Request, undo, job.Said, done)
	}
	return req.GoOn(job.Page.Back)
}
