package statement

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"carteira/internal/platform/text"
)

// column is what a column of a CSV file holds.
type column int

const (
	unknown column = iota
	date
	amount
	credit
	debit
	sign // C or D
	description
	identifier
)

// headings are what columns are called, as text.Words leaves them.
var headings = map[column][]string{
	date: {
		"data", "date", "dt", "data lancamento", "data do lancamento", "data movimento", "data mov", "data movimentacao",
		"data da transacao", "data transacao", "data contabil", "data balancete", "data hora", "release date",
		"transaction date", "posting date", "posted date", "dia",
	},
	amount: {
		"valor", "valor r", "valor em r", "valor do lancamento", "valor brl", "quantia", "montante", "amount", "value",
		"net amount", "transaction net amount", "amount brl", "valor transacao", "valor da transacao",
	},
	credit: {"credito", "credito r", "creditos", "credit", "credits", "entrada", "entradas", "entrada r", "valor credito"},
	debit:  {"debito", "debito r", "debitos", "debit", "debits", "saida", "saidas", "saida r", "valor debito"},
	sign:   {"c d", "d c", "dc", "cd", "sinal", "natureza", "credito debito", "debito credito", "tipo lancamento"},
	description: {
		"descricao", "historico", "lancamento", "descricao do lancamento", "description", "memo", "details", "detalhe", "detalhes",
		"detalhamento", "titulo", "title", "texto", "nome", "name", "favorecido", "remetente", "pagador", "payer", "sender",
		"origem destino", "razao social", "cpf cnpj", "cpf ou cnpj", "historico complementar", "complemento", "informacoes",
		"informacao adicional", "transaction type", "tipo transacao", "tipo de transacao", "tipo da transacao",
	},
	identifier: {
		"identificador", "identificacao", "id", "identifier", "documento", "docto", "doc", "numero do documento", "n documento",
		"no documento", "numero documento", "num doc", "dcto", "codigo da transacao", "id da transacao", "id da operacao",
		"transaction id", "reference", "reference id", "referencia", "txid", "end to end", "endtoend", "e2e", "id end to end",
		"codigo", "chave", "n doc",
	},
}

var columnsByHeading = func() map[string]column {
	known := map[string]column{}
	for kind, names := range headings {
		for _, name := range names {
			known[name] = kind
		}
	}
	return known
}()

// maxPreamble is in how many rows the headings are looked for: banks write account
// and period above them.
const maxPreamble = 40

// readCSV reads a file of rows. What is above the headings is passed over.
func readCSV(content string) (Statement, error) {
	reader := csv.NewReader(strings.NewReader(content))
	reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = delimiter(content), -1, true
	var statement Statement
	var columns []column
	for row := 0; ; row++ {
		cells, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF) && columns == nil, columns == nil && row > maxPreamble:
			return statement, ErrFormat
		case errors.Is(err, io.EOF):
			return statement, nil
		case err != nil:
			return statement, ErrFormat
		case columns == nil:
			columns = columnsOf(cells)
			continue
		}
		line, isLine, ok := lineOf(columns, cells)
		if !isLine {
			statement.append(line)
			continue
		}
		if err := statement.add(line, ok); err != nil {
			return statement, err
		}
	}
}

// delimiter is what the file has most of, in the line that names the columns.
func delimiter(content string) rune {
	row := 0
	for line := range strings.Lines(content) {
		if row++; row > maxPreamble {
			break
		}
		for _, mark := range []string{";", "\t", ",", "|"} {
			if columnsOf(strings.Split(line, mark)) != nil {
				return rune(mark[0])
			}
		}
	}
	return ';'
}

// columnsOf names the columns of a row; nil when it does not name a date and an
// amount.
func columnsOf(cells []string) []column {
	columns := make([]column, len(cells))
	for n, cell := range cells {
		kind := columnsByHeading[text.Words(cell)]
		if kind <= amount && slices.Contains(columns, kind) { // the first date is the movement's
			kind = unknown
		}
		columns[n] = kind
	}
	money := slices.Contains(columns, amount) || slices.Contains(columns, credit)
	if !money || !slices.Contains(columns, date) {
		return nil
	}
	return columns
}

// lineOf makes a line of a row. A row without a date is none: banks end a file with
// sums and remarks.
func lineOf(columns []column, cells []string) (line Line, isLine, ok bool) {
	of := map[column]string{}
	var words []string
	for n, cell := range cells[:min(len(cells), len(columns))] {
		cell = strings.TrimSpace(cell)
		if columns[n] == description && cell != "" {
			words = append(words, cell)
			continue
		}
		if of[columns[n]] == "" {
			of[columns[n]] = cell
		}
	}
	line.On, isLine = parseDate(of[date])
	line.Description, line.ID = joined(words...), of[identifier]
	line.Amount, ok = parseAmount(of[amount])
	if !ok && of[credit] != "" {
		line.Amount, ok = parseAmount(of[credit])
	}
	if out, taken := parseAmount(of[debit]); taken && out != 0 && line.Amount == 0 {
		line.Amount, ok = -max(out, -out), true
	}
	if mark := text.Fold(of[sign]); isDebit(mark) && line.Amount > 0 {
		line.Amount = -line.Amount
	}
	return line, isLine, ok
}

func isDebit(mark string) bool {
	return mark == "d" || strings.HasPrefix(mark, "deb") || strings.HasPrefix(mark, "sai")
}

// append adds to the last line what a row without date and amount says: some banks
// write the payer below the movement.
func (s *Statement) append(more Line) {
	if len(s.Lines) == 0 || more.Amount != 0 || more.Description == "" {
		return
	}
	last := &s.Lines[len(s.Lines)-1]
	last.Description = text.Storable(joined(last.Description, more.Description), maxText)
}
