package panel

import (
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

// sandboxPage shows the clock of a sandbox, and the buttons that move it.
func (s *Server) sandboxPage(req *request) error {
	return s.showSandbox(req, page.NewForm("to", ""), 0)
}

func (s *Server) showSandbox(req *request, form *page.Form, status int) error {
	if s.Sandbox == nil {
		return fault.NotFound("page")
	}
	state, err := s.Sandbox.State(req.Context(), req.Actor.Company.ID)
	if err != nil {
		return err
	}
	due, err := s.Customers.NextDue(req.Context(), req.Actor)
	if err != nil {
		return err
	}
	data := sandboxData{Advance: state, Form: form}
	if !due.IsZero() {
		data.NextDue = due.String()
	}
	if whole := state.To.Sub(state.From); state.Running && whole > 0 {
		data.Percent = int(100 * state.Now.Sub(state.From) / whole)
	}
	return s.show(req, page.View{Name: "sandbox", Title: "The clock", Status: status, Data: data})
}

// moveClock is a button or the date.
func (s *Server) moveClock(req *request) error {
	if s.Sandbox == nil {
		return fault.NotFound("page")
	}
	err := s.advance(req, req.form())
	if refused(err) {
		return s.showSandbox(req, page.Sent(req.Request, err), statusOf(err))
	}
	if err != nil {
		return err
	}
	return req.done("/sandbox", "The clock goes forward.")
}

func (s *Server) advance(req *request, in *input.Form) error {
	target := sandbox.ReadTarget(in, req.Actor.Company.Zone)
	if err := s.Sandbox.Begin(req.Context(), req.Actor, target); err != nil {
		return err
	}
	return s.Sandbox.Wait(req.Context(), moveTime, nil)
}
