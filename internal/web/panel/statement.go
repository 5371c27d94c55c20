package panel

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/money"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/kit"
)

const statementPath = "/payments/statement"

// statementData is a bank statement, and what its credits seem to pay.
type statementData struct {
	Tabs    paymentTabs
	Form    *page.Form
	Packed  string // the file, for the form that books its lines; empty: none was sent
	Rows    []statementRow
	Open    []string // invoices as the fields name them
	Notes   []string // what of the file is not listed
	Done    string   // what was booked just now
	Batch   string   // by which that is undone
	Refused bool     // a line was not booked
}

// statementRow is one credit in words.
type statementRow struct {
	payment.Proposal

	Ticked  bool
	Chosen  string // the invoice, as its field names it
	Why     string // what the match goes by
	Problem string // why it was not booked
	Differs money.Cents
}

func (s *Server) statementPage(req *kit.Request) error {
	return s.showStatement(req, statementData{Form: page.NewForm()}, nil)
}

func (s *Server) showStatement(req *kit.Request, data statementData, refusal error) error {
	data.Tabs = s.paymentTabs(req, "statement")
	return req.ShowForm("statement", "Bank statement", refusal, data)
}

// readStatement takes a file and shows what its credits seem to pay. Nothing is
// kept: the page carries the file to the form that books.
func (s *Server) readStatement(req *kit.Request) error {
	req.Body = http.MaxBytesReader(req.Writer, req.Body, payment.MaxStatement+kit.MaxForm)
	_, content, err := kit.ReadFileOf(req.Request, "file")
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		err = fault.Field("file", "the statement must not be larger than 1 MiB; export a shorter time")
	} else if err != nil {
		err = fault.Field("file", "choose a file")
	}
	data := statementData{Form: page.NewForm()}
	if err == nil {
		err = s.fillStatement(req, &data, content, nil)
	}
	if err != nil && !kit.Refused(err) {
		return err
	}
	data.Form.Fail(err)
	return s.showStatement(req, data, err)
}

// fillStatement fills in what a file holds; tried are bookings that were refused.
func (s *Server) fillStatement(req *kit.Request, data *statementData, content []byte, tried map[int]statementRow) error {
	reading, err := s.Payments.ReadStatement(req.Context(), req.Actor, content)
	if err != nil {
		return err
	}
	booked := int64(0)
	for _, proposal := range reading.Proposals {
		if proposal.Match == payment.MatchBooked {
			booked++
			continue
		}
		row := statementRow{
			Proposal: proposal, Ticked: proposal.Match == payment.MatchSure, Why: matchText(req, proposal),
			Chosen: invoiceLabel(proposal.Invoice),
		}
		if due := proposal.Invoice.PayableOn(req.Actor.Company, proposal.Line.On).Rest; proposal.Invoice.ID != 0 && due != proposal.Line.Amount {
			row.Differs = due
		}
		if was, found := tried[proposal.Number]; found {
			row.Ticked, row.Chosen, row.Problem = true, was.Chosen, was.Problem
		}
		data.Rows = append(data.Rows, row)
	}
	for _, invoice := range reading.Open[:min(len(reading.Open), maxOffered)] {
		data.Open = append(data.Open, invoiceLabel(invoice))
	}
	data.Notes = statementNotes(req, reading, booked)
	data.Packed, err = pack(content)
	return err
}

// maxOffered is how many invoices a field offers; the number of any other one can be
// typed.
const maxOffered = 1000

// invoiceLabel is an invoice as the fields of the page name it: its number first.
func invoiceLabel(invoice billing.Invoice) string {
	if invoice.ID == 0 {
		return ""
	}
	return kit.IDText(invoice.ID) + " · " + invoice.Customer.Name + " · " + invoice.Amount.BR() + " · " + invoice.DueOn.BR()
}

func matchText(req *kit.Request, p payment.Proposal) string {
	switch {
	case p.Match == payment.MatchRegistered:
		return req.Lang.T("A payment like this is registered already")
	case p.Match == payment.MatchNone:
		return req.Lang.T("No open invoice fits")
	case p.By == payment.ByAmount && p.Fits > 1:
		return req.Lang.T("%d open invoices cost this", p.Fits)
	}
	return req.Lang.T(map[payment.Evidence]string{
		payment.ByCode: "The code of the charge", payment.ByTaxID: "CPF or CNPJ of the customer",
		payment.ByName: "Name of the customer", payment.ByAmount: "Only the amount fits",
	}[p.By])
}

// statementNotes say what of the file is not in the list.
func statementNotes(req *kit.Request, reading payment.Reading, booked int64) (notes []string) {
	for _, note := range []struct {
		count     int64
		one, many string
	}{
		{booked, "1 line was booked before.", "%s lines were booked before."},
		{int64(reading.Debits), "1 line took money.", "%s lines took money."},
		{int64(reading.Future), "1 line is of a day to come.", "%s lines are of days to come."},
		{int64(reading.Unread), "1 line could not be read.", "%s lines could not be read."},
	} {
		if note.count > 0 {
			notes = append(notes, kit.Counted(req.Lang, note.count, note.one, note.many))
		}
	}
	return notes
}

// bookStatement books the lines that are ticked, and shows what is left.
func (s *Server) bookStatement(req *kit.Request) error {
	content, err := unpack(req.PostFormValue("statement"))
	if err != nil {
		return req.Complain(statementPath, fault.Field("file", "choose a file"))
	}
	bookings, tried := readBookings(req)
	actor := req.Batch()
	done, err := s.Payments.BookStatement(req.Context(), actor, content, bookings)
	if err != nil {
		return req.Complain(statementPath, err)
	}
	data, booked := statementData{Form: page.NewForm(), Batch: actor.Batch}, int64(0)
	for _, one := range done {
		if one.Err == nil {
			booked++
			continue
		}
		tried[one.Number] = statementRow{
			Chosen: req.PostFormValue("invoice-" + strconv.Itoa(one.Number)), Problem: req.Lang.Reason(kit.ReasonOf(one.Err)),
		}
	}
	data.Done, data.Refused = kit.Counted(req.Lang, booked, "1 payment was booked.", "%s payments were booked."), len(tried) > 0
	if booked == 0 {
		data.Done, data.Batch = "", ""
	}
	if err := s.fillStatement(req, &data, content, tried); err != nil {
		return err
	}
	return s.showStatement(req, data, nil)
}

// readBookings reads the ticked lines. One without the number of an invoice is among
// those that were not booked.
func readBookings(req *kit.Request) (bookings []payment.Booking, tried map[int]statementRow) {
	tried = map[int]statementRow{}
	for _, value := range req.PostForm["line"] {
		number, err := strconv.Atoi(value)
		if err != nil || number < 0 {
			continue
		}
		chosen := req.PostFormValue("invoice-" + strconv.Itoa(number))
		digits, _, _ := strings.Cut(strings.TrimLeft(strings.TrimSpace(chosen), "#"), " ")
		invoiceID, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || invoiceID <= 0 {
			tried[number] = statementRow{Chosen: chosen, Problem: req.Lang.T("Choose the invoice that it pays.")}
			continue
		}
		bookings = append(bookings, payment.Booking{Number: number, InvoiceID: invoiceID})
	}
	return bookings, tried
}

// pack makes a field of a file.
func pack(content []byte) (string, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := writer.Write(content)
	err = errors.Join(err, writer.Close())
	return base64.StdEncoding.EncodeToString(out.Bytes()), err
}

// unpack reads no more than a file may have, whatever the field holds.
func unpack(field string) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(field)
	if err != nil {
		return nil, err
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(reader, payment.MaxStatement+1))
}
