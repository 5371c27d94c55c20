package panel

import (
	"bytes"
	"encoding/base64"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/web/panel/kit"
)

// sendGateway sends the form of a gateway as a browser does: every field, and a
// file, which is an empty field when none was chosen.
func (p *person) sendGateway(file []byte, fields ...string) answer {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	name := ""
	if file != nil {
		name = "conta.p12"
	}
	part, err := form.CreateFormFile("file_certificate", name)
	if err == nil {
		_, err = part.Write(file)
	}
	for i := 0; i < len(fields) && err == nil; i += 2 {
		err = form.WriteField(fields[i], fields[i+1])
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	r := p.request(http.MethodPost, "/payments/gateways/bank", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	return p.do(r)
}

func TestCertificateIsChosenAsAFile(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.get("/payments/gateways/bank").want(t, http.StatusOK, `enctype="multipart/form-data"`, `name="file_certificate" accept=".p12"`, "Ou escolha o arquivo")
		person.get("/payments/gateways/pixkey").want(t, http.StatusOK).lacks(t, "multipart", `type="file"`)

		p12 := append([]byte{0x30, 0x82, 0, 0xff}, bytes.Repeat([]byte{7}, 2000)...)
		sealed := base64.StdEncoding.EncodeToString(p12)
		wantCertificate := func(name string, sent answer, want string) {
			t.Helper()
			if sent.status != http.StatusSeeOther {
				t.Fatalf("%s: %d: %s", name, sent.status, sent.body)
			}
			if got := (*office.bank.options.Load())["certificate"]; got != want {
				t.Errorf("%s: kept %.60q, want %.60q", name, got, want)
			}
		}
		wantCertificate("a file", person.sendGateway(p12, "token", "s3cret-token", "certificate", ""), sealed)
		wantCertificate("none, which keeps it", person.sendGateway(nil, "token", "", "certificate", ""), sealed)
		const pem = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----"
		wantCertificate("a file of text", person.sendGateway([]byte(pem), "token", "", "certificate", ""), pem)
		wantCertificate("a text in the field", person.sendGateway(nil, "token", "", "certificate", "-----BEGIN X"), "-----BEGIN X")

		person.sendGateway(make([]byte, 30<<10), "token", "").want(t, http.StatusUnprocessableEntity, "Ou escolha o arquivo").lacks(t, strings.Repeat("A", 100))
		if sent := person.sendGateway(make([]byte, 2*kit.MaxForm), "token", ""); sent.status != http.StatusRequestEntityTooLarge {
			t.Errorf("a file that is far too large: %d", sent.status)
		}
		wantCertificate("what was refused", person.sendGateway(nil, "token", ""), "-----BEGIN X")
	})
}

// The question who is signed in keeps what was sent, the file too.
func TestChosenFileOutlivesTheQuestionForAProof(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		person.clock.Advance(account.ProofLife)
		sealed := base64.StdEncoding.EncodeToString([]byte("p12 of the bank"))
		person.sendGateway([]byte("p12 of the bank"), "token", "s3cret-token").
			want(t, http.StatusForbidden, "É você?", `name="certificate" value="`+sealed)
		person.follow("/payments/gateways/bank", "token", "s3cret-token", "certificate", sealed, "proof", password).
			want(t, http.StatusOK, "está em uso")
	})
}
