package kit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"carteira/internal/account"
	"carteira/internal/platform/input"
	"carteira/internal/platform/money"
	"carteira/internal/platform/text"
	"carteira/internal/web"
	"carteira/internal/web/page"
)

// Decimal is an amount as Excel in Brazil reads it.
func Decimal(amount money.Cents) string { return strings.TrimPrefix(amount.BR(), "R$ ") }

// SendCSV sends a file for a spreadsheet. Semicolons and the mark at the
// beginning are what Excel in Brazil wants.
func SendCSV(req *Request, name string, rows func(write func([]string) error) error) {
	SendFile(req, name, "text/csv; charset=utf-8", func(to io.Writer) error {
		out := bufio.NewWriter(to)
		_, _ = out.WriteString("\ufeff") // the error stays until Flush
		err := rows(func(cells []string) error { return WriteRow(out, cells) })
		return errors.Join(err, out.Flush())
	})
}

// SendBytes sends a file that is at hand; without a name a browser may show it.
func SendBytes(req *Request, name, kind string, content []byte) error {
	if req.Failed != nil {
		return req.Failed
	}
	header := req.Writer.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Length", strconv.Itoa(len(content)))
	header.Set("Cache-Control", "no-store")
	if name != "" {
		header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	}
	_, _ = req.Writer.Write(content) // a reader who has gone away is not our failure
	return nil
}

// SendFile sends a file that is written while it is read.
func SendFile(req *Request, name, kind string, write func(io.Writer) error) {
	header := req.Writer.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	header.Set("Cache-Control", "no-store")
	if err := write(patient{req.Writer, http.NewResponseController(req.Writer)}); err != nil {
		// Half a file must not pass for the whole: the connection is cut.
		web.ExchangeOf(req.Context()).Err = err
		panic(http.ErrAbortHandler)
	}
}

// WriteRow writes a line of the file. A text with a comma is quoted as well: where
// that is what separates cells, the rest of it would be a cell of its own, and
// could be a formula.
func WriteRow(out *bufio.Writer, cells []string) error {
	for i, cell := range cells {
		if i > 0 {
			_ = out.WriteByte(';') // the error stays until Flush
		}
		if cell != "" && !isNumber(cell) && (strings.ContainsAny(cell, ";,\"\r\n") || cell[0] == ' ' || cell[0] == '\t') {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		_, _ = out.WriteString(cell)
	}
	_, err := out.WriteString("\n")
	return err
}

// DialledPhone is a number as people write it, so that a spreadsheet takes it for
// a text; one of another country keeps its bare digits, which an import reads.
func DialledPhone(digits string) string {
	shown := page.FormatPhone(digits)
	if rest, ok := strings.CutPrefix(shown, "+55 "); ok {
		return rest
	}
	return digits
}

// Harmless keeps a spreadsheet from running a text of ours as a formula.
func Harmless(text string) string {
	if text != "" && (text[0] == '=' || text[0] == '+' || text[0] == '-' || text[0] == '@' || text[0] == '\t' || text[0] == '\r') {
		return "'" + text
	}
	return text
}

// patient moves the deadline on as long as the reader reads.
type patient struct {
	io.Writer
	control *http.ResponseController
}

func (p patient) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(time.Minute))
	return p.Writer.Write(b)
}

// FilterOf reads the filter of an address.
func FilterOf[F any](req *Request, read func(*input.Form) F) (F, error) {
	in := req.Query()
	filter := read(in)
	return filter, in.Err()
}

// Exported makes a handler that sends the rows of a filter as a file: the first part
// of its name, its columns, and the cells of each row.
func Exported[F, T any](
	name string, columns []string, readFilter func(*input.Form) F,
	walk func(context.Context, account.Actor, F, func(T) error) error, cells func(*Request, T) []string,
) Handler {
	return Long(func(req *Request) error {
		filter, err := FilterOf(req, readFilter)
		if err != nil {
			return err
		}
		SendList(req, name, columns, func(write func(...string) error) error {
			return walk(req.Context(), req.Actor, filter, func(record T) error { return write(cells(req, record)...) })
		})
		return nil
	})
}

// SendList sends a list as a file. Texts that others typed cannot run in it.
func SendList(req *Request, name string, columns []string, rows func(write func(...string) error) error) {
	SendCSV(req, name+"-"+req.Today.String()+".csv", func(write func([]string) error) error {
		if err := write(columns); err != nil {
			return err
		}
		return rows(func(cells ...string) error {
			for n, cell := range cells {
				if !isNumber(cell) {
					cells[n] = Harmless(cell)
				}
			}
			return write(cells)
		})
	})
}

// isNumber reports whether a cell is an amount, which may begin with a minus.
func isNumber(cell string) bool {
	return cell != "" && strings.Trim(strings.TrimPrefix(cell, "-"), "0123456789.,") == ""
}

// Moment is an instant as a spreadsheet in Brazil reads it.
func (req *Request) Moment(at time.Time) string {
	return page.FormatTime(at, req.Actor.Company.Zone)
}

// fileForms are the routes with forms that may bring a file for a field. They are
// read before a proof is asked for, so that the question keeps what was sent.
var fileForms = map[string]bool{"POST /payments/gateways/{provider}": true}

// filePrefix begins the name of the input that takes the file of a field.
const filePrefix = "file_"

// readFiles puts what the files of a form hold in the place of their fields: text
// as it is, everything else in base64. The whole form is bounded by maxForm.
func (req *Request) readFiles() error {
	err := req.ParseMultipartForm(MaxForm)
	if errors.Is(err, http.ErrNotMultipart) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = req.MultipartForm.RemoveAll() }()
	for name, files := range req.MultipartForm.File {
		field, found := strings.CutPrefix(name, filePrefix)
		if !found || len(files) == 0 {
			continue
		}
		content, err := contentOf(files[0])
		if err != nil {
			return err
		}
		req.PostForm.Set(field, content)
	}
	for name := range req.PostForm { // a file that was not chosen is sent as an empty field
		if strings.HasPrefix(name, filePrefix) {
			req.PostForm.Del(name)
		}
	}
	return nil
}

// contentOf is what a file holds, as a form could say it.
func contentOf(header *multipart.FileHeader) (string, error) {
	file, err := header.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(file)
	if bytes.Contains(content, []byte("-----BEGIN")) {
		return string(content), err
	}
	return base64.StdEncoding.EncodeToString(content), err
}

// maxFileName is how much is kept of the name of a file.
const maxFileName = 255

// ReadFileOf reads the file of a form's field whole; its size is bounded before.
func ReadFileOf(r *http.Request, field string) (name string, content []byte, err error) {
	file, header, err := r.FormFile(field)
	if err != nil {
		return "", nil, err
	}
	defer func() {
		_ = file.Close() // it was only read
		_ = r.MultipartForm.RemoveAll()
	}()
	content, err = io.ReadAll(file)
	return text.Storable(header.Filename, maxFileName), content, err
}

// HarmlessRow makes each cell harmless.
func HarmlessRow(cells []string) []string {
	for n, cell := range cells {
		cells[n] = Harmless(cell)
	}
	return cells
}
