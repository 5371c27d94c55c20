package panel

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

// bulkPage shows what will happen.
type bulkPage struct {
	picks
	Action, Path, Back, Title, Button string
	Count                             int // that will change
	Danger                            bool
	Facts                             []fact
	Effects                           []string // translated
	Rows                              []bulkRow
	More                              int
	Form                              *page.Form
	Plans, Choices                    []page.Option
	Round                             any // what a reminder shows; nil: it is none
}

// fact is a line of what will happen.
type fact struct{ Label, Value string }

// bulkRow is one of the records, before and after.
type bulkRow struct{ Name, Before, After, Amount string }

// shownRows is how many records the page names.
const shownRows = 6

func (p *bulkPage) fact(lang page.Lang, label, value string) {
	p.Facts = append(p.Facts, fact{lang.T(label), value})
}

func (p *bulkPage) effect(lang page.Lang, texts ...string) {
	for _, text := range texts {
		p.Effects = append(p.Effects, lang.T(text))
	}
}

func (p *bulkPage) row(row bulkRow) {
	if len(p.Rows) < shownRows {
		p.Rows = append(p.Rows, row)
		return
	}
	p.More++
}

// one is a record that an action is for, and what it does with it.
type one struct {
	row     bulkRow
	amount  money.Cents
	refusal string // why nothing will happen to it
	act     func(ctx context.Context, actor account.Actor) error
}

// work is an action over records that were picked.
type work struct {
	title, button, said string // in English, with a number
	danger, final       bool   // final: it cannot be undone
	amount              string // what the sum is called
	list                []one
	page                bulkPage
}

type planner func(req *request, action string, chosen picks) (*work, error)

func (s *Panel) carryOut(req *request, path string, plan planner) error {
	back, action := req.back(path), req.PostFormValue("action")
	chosen, err := readPicks(req)
	if err != nil {
		return req.complain(back, err)
	}
	job, err := plan(req, action, chosen)
	if err != nil {
		return req.complain(back, err)
	}
	job.page.picks, job.page.Action, job.page.Path, job.page.Back = chosen, action, path, back
	if req.PostFormValue("sure") == "" || req.PostFormValue("agreed") != strconv.Itoa(job.count()) {
		return s.showWork(req, job)
	}
	return s.run(req, job)
}

// count is how many records will change.
func (w *work) count() (count int) {
	for _, record := range w.list {
		if record.refusal == "" {
			count++
		}
	}
	return count
}

// showWork shows what will happen; again when it has changed since.
func (s *Panel) showWork(req *request, job *work) error {
	view := &job.page
	view.Count, view.Danger = job.count(), job.danger
	view.Title, view.Button = req.lang.T(job.title, view.Count), req.lang.T(job.button, view.Count)
	if view.Form == nil {
		view.Form = page.NewForm()
	}
	var sum money.Cents
	left := map[string]int{}
	for _, record := range job.list {
		if record.refusal != "" {
			left[record.refusal]++
			continue
		}
		sum += record.amount
		view.row(record.row)
	}
	if job.amount != "" {
		view.fact(req.lang, job.amount, sum.BR())
	}
	for reason, count := range left {
		view.Facts = append(view.Facts, fact{req.lang.T("Left out: %d", count), req.lang.Reason(reason)})
	}
	if !job.final {
		view.effect(req.lang, "You can undo it for ten minutes.")
	}
	if req.PostFormValue("sure") != "" {
		view.Form.Fail(fault.New(fault.KindConflict, "the list changed meanwhile; look at it again"))
	}
	return req.show("bulk", view.Title, view)
}

// run has it happen, and says what came of it.
func (s *Panel) run(req *request, job *work) error {
	actor, done, reason := req.batch(), 0, ""
	for _, record := range job.list {
		if record.refusal != "" {
			continue
		}
		err := record.act(req.Context(), actor)
		switch {
		case err == nil:
			done++
		case !refused(err) && fault.KindOf(err) != fault.KindNotFound:
			return err
		default:
			reason = reasonOf(err)
		}
	}
	undo := actor.Batch
	if job.final || done == 0 {
		undo = ""
	}
	if all := job.count(); done < all {
		page.ComplainUndo(req.w, req.Request, undo, "%d of %d: done. The others were refused: %s", done, all, req.lang.Reason(reason))
	} else {
		page.SayUndo(req.w, req.Request, undo, job.said, done)
	}
	return req.goOn(job.page.Back)
}
