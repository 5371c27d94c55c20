package statement

import (
	"html"
	"strings"
)

// isOFX looks for the tag that both editions of OFX have; the header before it is
// short.
func isOFX(content string) bool {
	return strings.Contains(strings.ToUpper(content[:min(len(content), 4<<10)]), "<OFX>")
}

// debitTypes are the types of movements that take money. Some banks write their
// amounts without a sign.
var debitTypes = map[string]bool{
	"DEBIT": true, "FEE": true, "SRVCHG": true, "ATM": true, "POS": true, "CHECK": true, "PAYMENT": true,
	"CASH": true, "DIRECTDEBIT": true, "REPEATPMT": true,
}

// readOFX reads both editions: of SGML, with values that may have no closing tag, and
// of XML. A value goes to the next tag in either.
func readOFX(content string) (Statement, error) {
	var statement Statement
	var account string
	var fields map[string]string // of the movement that is being read
	for rest := content; ; {
		name, value, more, ok := nextTag(rest)
		if !ok {
			return statement, nil
		}
		rest = more
		switch {
		case strings.TrimPrefix(name, "/") == "STMTTRN":
			if fields != nil {
				if err := statement.add(movement(fields, account)); err != nil {
					return statement, err
				}
			}
			fields = nil
			if name == "STMTTRN" {
				fields = map[string]string{}
			}
		case name == "ACCTID":
			account = value
		case fields != nil && fields[name] == "":
			fields[name] = value
		}
	}
}

// nextTag cuts the next tag and the value that follows it.
func nextTag(content string) (name, value, rest string, ok bool) {
	_, content, ok = strings.Cut(content, "<")
	if !ok {
		return "", "", "", false
	}
	name, content, ok = strings.Cut(content, ">")
	if !ok {
		return "", "", "", false
	}
	value = content
	if literal, found := strings.CutPrefix(content, "<![CDATA["); found {
		value, content, _ = strings.Cut(literal, "]]>")
		return tagName(name), strings.TrimSpace(value), content, true
	}
	if end := strings.IndexByte(content, '<'); end >= 0 {
		value, content = content[:end], content[end:]
	} else {
		content = ""
	}
	return tagName(name), strings.TrimSpace(html.UnescapeString(value)), content, true
}

// tagName is a tag's name without attributes, and without the slash of one that has
// no content.
func tagName(tag string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(tag), " ")
	return strings.ToUpper(strings.TrimSuffix(name, "/"))
}

// movement makes a line of the fields of a STMTTRN.
func movement(fields map[string]string, account string) (line Line, ok bool) {
	line = Line{Description: joined(fields["NAME"], fields["MEMO"]), ID: fields["FITID"], Account: account}
	posted := fields["DTPOSTED"]
	on, dated := parseDate(posted[:min(len(posted), len("20060102"))])
	amount, known := parseAmount(fields["TRNAMT"])
	if debitTypes[strings.ToUpper(fields["TRNTYPE"])] && amount > 0 {
		amount = -amount
	}
	line.On, line.Amount = on, amount
	return line, dated && known
}

// joined has the parts of a description, each once: banks repeat NAME in MEMO.
func joined(parts ...string) string {
	var kept []string
	for _, part := range parts {
		part = oneLine(part)
		if part == "" || strings.Contains(strings.Join(kept, " - "), part) {
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, " - ")
}
