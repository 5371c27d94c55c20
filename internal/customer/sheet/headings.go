package sheet

import (
	"bytes"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"carteira/internal/platform/money"
	"carteira/internal/platform/phone"
	"carteira/internal/platform/text"
)

// headings are what a column may be called, by field, in the order in which people think of fields. They are compared
// without regard to case, accents and punctuation: Código, codigo and CÓDIGO: are one. plan, product and value are
// not fields of the API's form: a file names plans and products instead of giving their ids, and says what a new plan
// costs. price is what the customer pays in place of that. The last line has what a file from the API may have and no
// form takes; id is not there: in a file from another program it is that program's key, and leaving it out deserves a
// warning.
var headings = namings(`
	name: name, nome, cliente, nome completo, nome do cliente, razão social, nome fantasia, assinante, aluno,
		nome do assinante, nome do aluno, contratante, customer, customer name, client, full name, sobrenome,
		last name, surname
	whatsapp: whatsapp, telefone, celular, fone, tel, cel, zap, whats, wpp, phone, contato, número de telefone, ddd,
		mobile, telefone celular, telefone 1, celular 1, fone 1, telefone principal, número do whatsapp, ddd telefone,
		ddd e telefone, whats app, phone number
	email: email, e-mail, mail, endereço de e-mail, correio eletrônico, e-mail principal
	usuario: usuario, usuário, username, user, login, nome de usuário
	data_de_vencimento: data_de_vencimento, due_date, vencimento, data vencimento, dt vencimento, dt venc, data venc,
		venc, vence em, vence, validade, data de validade, expira em, próximo vencimento, data do vencimento
	plan: plan, plano, plan name, nome do plano, pacote, plano contratado
	value: value, valor, preço, mensalidade, valor do plano, valor mensal, valor da mensalidade, amount, vlr,
		vl mensalidade, vlr mensal, valor r$
	product: product, produto, product name, nome do produto, serviço
	notes: notes, observações, observação, obs, notas, anotações, comentários, observações gerais, anotação
	external_id: external_id, código, id externo, código externo, código do cliente, id do cliente, matrícula, cód,
		cód cliente
	plan_id: plan_id, id do plano, código do plano
	product_id: product_id, id do produto, código do produto
	price: price, preço próprio, valor próprio, preço especial, valor especial, preço do cliente, valor combinado
	cpf_cnpj: cpf_cnpj, cpf, cnpj, cpf ou cnpj, documento, cpf do cliente, cnpj da empresa, nº cpf, nº do cpf,
		nº cnpj, doc
	address.cep: address.cep, cep, código postal
	address.street: address.street, endereço, logradouro, rua, avenida, endereço completo, end, street
	address.number: address.number, número, nº, num, número da casa, nro
	address.complement: address.complement, complemento, compl, apto, apartamento, bloco
	address.district: address.district, bairro, distrito
	address.city: address.city, cidade, município, localidade, city
	address.state: address.state, uf, estado
	: uuid, status, created_at, updated_at`)

// naming is what names a field, and what may be with it in a heading.
type naming struct {
	field       string
	names, with []string
}

// namings reads lines of "field: names | with". A line that ends with a comma goes on in the next.
func namings(text string) (all []naming) {
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimSpace(text), ",\n", ", ")) {
		field, names, _ := strings.Cut(line, ":")
		names, with, _ := strings.Cut(names, "|")
		all = append(all, naming{strings.TrimSpace(field), list(names), list(with)})
	}
	return all
}

func list(text string) []string { return strings.Split(strings.Join(strings.Fields(text), " "), ", ") }

// fields has the field of each name.
var fields = func() map[string]string {
	byKey := map[string]string{}
	for _, column := range headings {
		for _, name := range column.names {
			byKey[text.Words(name)] = column.field
		}
	}
	return byKey
}()

// Fields lists what a column can be. Those of custom are unlimited, because
// the company chooses their names.
func Fields() (names []string) {
	for _, column := range headings {
		if column.field != "" {
			names = append(names, column.field)
		}
	}
	return names
}

// IsField reports whether a column can be that.
func IsField(name string) bool {
	return slices.Contains(Fields(), name) || isCustom(name)
}

// Optional reports whether a value that cannot be read may be left out: not the name, and nothing that decides what
// is charged and when. A customer without the due date would get one that was never chosen.
func Optional(field string) bool { return !slices.Contains(needed, field) }

var needed = list("name, data_de_vencimento, plan, plan_id, value, price, product, product_id")

// customPrefix begins the headings of a company's own fields: custom.MAC.
const customPrefix = "custom."

// maxCustomName is how long the name of a company's own field may be.
const maxCustomName = 60

func isCustom(field string) bool {
	name, ok := strings.CutPrefix(field, customPrefix)
	return ok && name != "" && utf8.ValidString(name) &&
		utf8.RuneCountInString(name) <= maxCustomName && !strings.ContainsFunc(name, unicode.IsControl)
}

// fieldOf finds a heading's field, and whether the heading is known at all. A
// heading of several names for one thing is understood (Celular/WhatsApp), and
// so is one with a remark in brackets: Valor (R$).
func fieldOf(heading string) (field string, known bool) {
	heading = strings.TrimSpace(heading)
	if len(heading) > len(customPrefix) && strings.EqualFold(heading[:len(customPrefix)], customPrefix) {
		if field = customPrefix + strings.TrimSpace(heading[len(customPrefix):]); isCustom(field) {
			return field, true
		}
		return "", false
	}
	if field, known = fields[text.Words(heading)]; known {
		return field, true
	}
	if before, _, remarked := strings.Cut(heading, "("); remarked && before != "" {
		return fieldOf(before)
	}
	return sharedField(heading)
}

// wordings are what a heading may be made of beyond the names above: a word of the field, and words that change nothing
// about it. Tel. Celular, Dt. Vencto and Vl. Mensal are no names, but say what they are; Valor pago has a word that
// says it is something else.
var wordings = namings(`
	data_de_vencimento: vencimento, vencto, vencim, vcto, venc, validade, dia | plano, mensalidade, fatura,
		boleto, contrato, assinatura, proximo, prox, pagamento, pgto
	value: valor, vlr, vl, preco, mensalidade | plano, pacote, assinatura, contrato, mensal, mes, pagar
	plan: plano, pacote, modalidade, velocidade | nome, tipo, internet, servico, contratado, contratada, mega, mb, mbps
	whatsapp: telefone, tel, fone, celular, cel, whatsapp, whats, wpp, zap | contato, principal, movel,
		ddd, numero, n, 1, 2, responsavel, cobranca
	email: email, mail | contato, principal, responsavel, cobranca
	cpf_cnpj: cpf, cnpj | documento, numero, n
	name: nome, razao | social, completo, fantasia, empresa`)

// fillers may be in any heading.
var fillers = list(`de, do, da, dos, das, o, a, e, em, no, na, para, p, com, r, rs, dt, data, dia, cliente, clientes,
	assinante, aluno, titular, contratante, atual`)

// guessed is the field that the words of a heading say; "": none.
func guessed(heading string) string {
	words := strings.Fields(text.Words(heading))
	for _, wording := range wordings {
		own := false
		if !slices.ContainsFunc(words, func(word string) bool {
			of := slices.Contains(wording.names, word)
			own = own || of
			return !of && !slices.Contains(wording.with, word) && !slices.Contains(fillers, word)
		}) && own {
			return wording.field
		}
	}
	return ""
}

// columnsOf gives headings their fields. A guess gives way to a heading that has the name of the field.
func columnsOf(header []string) []Column {
	columns, named := make([]Column, len(header)), map[string]bool{}
	for n, heading := range header {
		field, _ := fieldOf(heading)
		if field == "address.number" && n == 0 && len(header) > 1 { // it counts the lines: no address begins one
			field = ""
		}
		columns[n] = Column{strings.TrimSpace(heading), field}
		named[field] = true
	}
	for n, column := range columns {
		if guess := guessed(column.Heading); column.Field == "" && !knows(column.Heading) && (guess == "whatsapp" || !named[guess]) {
			columns[n].Field = guess
			named[guess] = true
		}
	}
	for n, column := range columns { // a service is the plan where nothing else is
		if column.called("product", "servico") && !named["plan"] && !named["plan_id"] {
			columns[n].Field, named["plan"] = "plan", true
		}
	}
	return columns
}

// called reports whether a column of a field has one of some names.
func (c Column) called(field string, names ...string) bool {
	return c.Field == field && slices.Contains(names, text.Words(c.Heading))
}

// sharedField is the field of a heading with several parts, between slashes, that are all names of it.
func sharedField(heading string) (field string, known bool) {
	parts := strings.FieldsFunc(heading, func(r rune) bool { return strings.ContainsRune(`/|\`, r) })
	if len(parts) < 2 || len(parts) > 4 {
		return "", false
	}
	for i, part := range parts {
		of, ok := fields[text.Words(part)]
		if !ok || of == "" || i > 0 && of != field {
			return "", false
		}
		field = of
	}
	return field, true
}

// maxPreface is how many records may stand before the one that names the columns: a title, the company's name, a date,
// the sep=; by which Excel knows the delimiter.
const maxPreface = 10

// layout is how a file is laid out.
type layout struct {
	comma  rune
	header int // which record names the columns
}

// layoutOf finds the delimiter and the header that make the most of a file's beginning: the most headings that are
// understood, or else the most columns of the first record. A record with one known heading may be a title ("Cliente:
// Padaria Sol"), so that the header is looked for beyond the first only with two.
func layoutOf(start []byte) layout {
	best, most := layout{comma: ','}, 0
	for _, comma := range []rune{',', ';', '\t', '|'} {
		header, score := headerOf(beginning(start, comma, 1+maxPreface))
		if score > most {
			best, most = layout{comma, header}, score
		}
	}
	return best
}

// maxBeginning is how much of a file is looked at for its header.
const maxBeginning = 32 << 10

// beginning has the first records of a file, up to most. What is wrong with the records is found on the real reading.
func beginning(start []byte, comma rune, most int) (records [][]string) {
	reader := csv.NewReader(bytes.NewReader(start[:min(len(start), maxBeginning)]))
	reader.Comma, reader.LazyQuotes, reader.FieldsPerRecord = comma, true, -1
	for len(records) < most {
		record, err := reader.Read()
		if err != nil {
			break
		}
		records = append(records, readable(record))
	}
	return records
}

// headerOf finds the record that is most of a header, and how much of one it is.
func headerOf(records [][]string) (header, most int) {
	for i, record := range records {
		known := knownHeadings(record)
		score := known * maxRecord
		if i == 0 {
			score += len(record)
		}
		if score > most && (i == 0 || known >= 2) {
			header, most = i, score
		}
	}
	return header, most
}

func knownHeadings(record []string) int {
	known := 0
	for _, heading := range record {
		if _, ok := fieldOf(heading); ok || guessed(heading) != "" {
			known++
		}
	}
	return known
}

// totals are the words with which the sums under a table begin, as text.Fold leaves them.
var totals = list(`total, totais, total geral, subtotal, sub-total, sub total, soma, total de clientes,
	total de registros, total de linhas, quantidade, quantidade total, valor total, qtd, qtde`)

// isSum finds a line that sums up others. It begins with one of those words, perhaps with a number behind it, and has
// but numbers after it; or it has amounts in the columns of amounts and nothing else. A gym called Total Fitness stays a
// customer, and so does one called Total that has a phone.
func (s *Reader) isSum(fields []string) bool {
	word, sums := false, 0
	for n, cell := range fields {
		switch cell = strings.TrimSpace(cell); {
		case cell == "":
		case !word && sums == 0 && isTotalWord(cell):
			word = true
		case (word || n < len(s.Columns) && s.Columns[n].Field == "value") && isNumber(cell):
			sums++
		default:
			return false
		}
	}
	return word || sums > 0
}

func isTotalWord(cell string) bool {
	word, number, _ := strings.Cut(text.Fold(cell), ":")
	word = strings.TrimRight(word, " 0123456789.,")
	word = strings.TrimSpace(strings.TrimSuffix(word, "r$"))
	return slices.Contains(totals, word) && (strings.TrimSpace(number) == "" || isNumber(number))
}

func isNumber(cell string) bool {
	if _, err := phone.Parse(cell); err == nil {
		return false
	}
	_, err := money.ParseBR(cell)
	return err == nil || errors.Is(err, money.ErrTooLarge)
}
