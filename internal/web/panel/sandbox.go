package panel

import (
	"cmp"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/sandbox"
	"carteira/internal/web/page"
)

type sandboxData struct {
	sandbox.Advance
	Form    *page.Form
	Percent int
	NextDue string // the next due date; "": there is none
}

// moveTime is how long a page waits for a short move to end, before it shows how
// far a longer one has come.
const moveTime = 2 * time.Second

// clock shows the clock of a sandbox, and the buttons that move it.
func (s *Server) clock(req *request, form *page.Form, refusal error) error {
	if s.Sandbox == nil {
		return fault.NotFound("page")
	}
	state, err := s.Sandbox.State(req.Context(), req.Actor.Company.ID)
	req.note(err)
	data := sandboxData{Advance: state, Form: cmp.Or(form, page.NewForm("to", ""))}
	if due := read(req, s.Customers.NextDue); !due.IsZero() {
		data.NextDue = due.String()
	}
	if whole := state.To.Sub(state.From); state.Running && whole > 0 {
		data.Percent = int(100 * state.Now.Sub(state.From) / whole)
	}
	return s.showForm(req, "sandbox", "The clock", refusal, data)
}

// moveClock is a button or the date.
func (s *Server) moveClock(req *request) error {
	if s.Sandbox == nil {
		return fault.NotFound("page")
	}
	return req.sent(s.advance(req, req.form()), s.clock, "/sandbox", "The clock goes forward.")
}

func (s *Server) advance(req *request, in *input.Form) error {
	target := sandbox.ReadTarget(in, req.Actor.Company.Zone)
	if err := s.Sandbox.Begin(req.Context(), req.Actor, target); err != nil {
		return err
	}
	return s.Sandbox.Wait(req.Context(), moveTime, nil)
}
