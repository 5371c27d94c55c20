package panel

import (
	"slices"
	"strconv"
	"strings"

	"carteira/internal/customer/intake"
)

// rejectedRows sends the lines of an upload that are not imported: the columns
// of the file, the number of the line and what is wrong with it. Corrected, it
// can be uploaded again, since an import passes over columns that it does not
// know.
func (s *Server) rejectedRows(req *request) error {
	file, err := s.Intake.Rejected(req.Context(), req.Actor, req.id)
	if err != nil {
		return err
	}
	sendCSV(req, "linhas-nao-importadas-"+idText(req.id)+".csv", func(write func([]string) error) error {
		if err := write(harmlessRow(append(slices.Clone(file.Headings), "linha", "motivo"))); err != nil {
			return err
		}
		return file.Each(func(record intake.RejectedRecord) error {
			return write(rejectedRow(req, len(file.Headings), record))
		})
	})
	return nil
}

// rejectedRow is a line with its number and the reasons under their headings.
// Cells that no heading is for come behind them.
func rejectedRow(req *request, headings int, record intake.RejectedRecord) []string {
	row := make([]string, headings, headings+2)
	beyond := record.Fields[min(headings, len(record.Fields)):]
	copy(row, record.Fields)
	row = append(row, strconv.Itoa(record.Line), reasonsOf(req, record.Problems))
	return harmlessRow(append(row, beyond...))
}

func reasonsOf(req *request, problems []intake.Problem) string {
	var reasons []string
	for _, problem := range namedProblems(req, problems) {
		reason := req.lang.Reason(problem.Reason)
		if problem.Field != "" {
			reason = problem.Field + ": " + reason
		}
		reasons = append(reasons, reason)
	}
	return strings.Join(reasons, "; ")
}

// harmlessRow makes each cell harmless.
func harmlessRow(cells []string) []string {
	for n, cell := range cells {
		cells[n] = harmless(cell)
	}
	return cells
}
