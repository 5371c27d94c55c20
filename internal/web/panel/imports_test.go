package panel

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	"carteira/internal/customer/intake"
)

// rejected downloads the lines of an upload that are not imported.
func (p *person) rejected(location string) [][]string {
	p.t.Helper()
	answer := p.get(location+"/rejected").want(p.t, http.StatusOK)
	if !strings.HasPrefix(answer.body, "\ufeff") || !strings.Contains(answer.header.Get("Content-Disposition"), "linhas-nao-importadas-") {
		p.t.Errorf("headers %v", answer.header)
	}
	reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(answer.body, "\ufeff")))
	reader.Comma, reader.FieldsPerRecord = ';', -1
	rows, err := reader.ReadAll()
	if err != nil {
		p.t.Fatal(err)
	}
	return rows
}

func (p *person) idOf(location string) (id int64) {
	p.t.Helper()
	if _, err := fmt.Sscanf(location, "/imports/%d", &id); err != nil {
		p.t.Fatal(err)
	}
	return id
}

// Who is late in the list is late here: home has them to charge as soon as they are imported.
func TestLateOnesOfAListCanBeChargedAtOnce(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		location := person.upload("a.csv", "nome;celular;vencimento;plano;valor\nAna;11987650001;10/01/2026;Mensal;79,90\n").location
		person.follow(location, "column", "name", "column", "whatsapp", "column", "data_de_vencimento", "column", "plan", "column", "value", "fix", "create_missing", "invoices", "true")
		person.importNow(person.idOf(location))
		person.get("/").want(t, http.StatusOK, "R$ 79,90", "Cobrar todos", `id="remind-all"`)
		second := person.upload("b.csv", "nome;celular\nBia;11987650002\n").location
		person.get(second).want(t, http.StatusOK, `name="invoices" value="true" checked`)
	})
}

const fileWithDuplicates = "Assinante,Celular,Obs\n" +
	"Ana,11987650001,\n" +
	"Caio,123,\"=cmd|' /C calc'!A0; aqui\"\n" +
	"Davi,11987650009,\n" +
	"Davi Filho,+55 (11) 98765-0009,\n" +
	"Eva,11987650010,,extra\n" +
	"\"Fabio\" x,,\n"

func TestCustomersWhoSeemToBeThereAreShownAndCanBeLeftOut(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		first := person.upload("a.csv", "nome;celular\nAna;11987650001\n").location
		person.follow(first, "column", "name", "column", "whatsapp").want(t, http.StatusOK, "Importar 1 cliente").lacks(t, "/rejected")
		person.importNow(person.idOf(first))

		location := person.upload("b.csv", fileWithDuplicates).location
		person.get(location).want(t, http.StatusOK, "Deixar de fora clientes que parecem já estar cadastrados")
		named := []string{"column", "name", "column", "whatsapp", "column", "notes", "keep_going", "true"}
		person.follow(location, named...).want(t, http.StatusOK, "Importar 3 clientes",
			"são importadas mesmo assim: 2", "já é o telefone do cliente 1 (Ana)", `href="/customers/1"`, "também é o telefone de uma linha anterior")
		person.follow(location, append(named, "skip_duplicates", "true")...).want(t, http.StatusOK, "Importar 1 cliente",
			"porque parecem já estar cadastradas: 2", location+"/rejected")
		want := [][]string{
			{"Assinante", "Celular", "Obs", "linha", "motivo"},
			{"Ana", "11987650001", "", "2", "WhatsApp: já é o telefone do cliente 1 (Ana)"},
			{"Caio", "123", "'=cmd|' /C calc'!A0; aqui", "3", "WhatsApp: deve ter 10 ou 11 dígitos com o DDD; um número de outro país começa com +"},
			{"Davi Filho", "'+55 (11) 98765-0009", "", "5", "WhatsApp: também é o telefone de uma linha anterior"},
			{"Eva", "11987650010", "", "6", "tem 4 campos onde o cabeçalho tem 3", "extra"},
		}
		wantRejected(t, person.rejected(location), want)
		upload := person.importNow(person.idOf(location))
		if upload.State != intake.UploadDone || upload.Outcome.Done != (intake.Imported{Imported: 1, Failed: 3, Duplicates: 2}) {
			t.Errorf("imported %+v", upload)
		}
		person.get(location).want(t, http.StatusOK, "Clientes importados: 1.", "porque parecem já estar cadastradas: 2", location+"/rejected")
		wantRejected(t, person.rejected(location), want)

		stranger := office.owner(t, "bia@example.com")
		stranger.get(location+"/rejected").want(t, http.StatusNotFound)
	})
}

// wantRejected wants the lines, and the one after them that cannot be read.
func wantRejected(t *testing.T, got, want [][]string) {
	t.Helper()
	if len(got) != len(want)+1 {
		t.Fatalf("rows %q", got)
	}
	for n, row := range want {
		if !slices.Equal(got[n], row) {
			t.Errorf("row %d: %q, want %q", n, got[n], row)
		}
	}
	if last := got[len(want)]; last[0] != "" || last[3] != "7" || !strings.Contains(last[4], "aspas") {
		t.Errorf("what cannot be read: %q", last)
	}
}

func TestDownloadedLinesCanBeUploadedAgain(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		location := person.upload("a.csv", "nome;celular\n-Ana;+1\n").location
		person.follow(location, "column", "name", "column", "whatsapp").want(t, http.StatusOK, "/rejected")
		body := person.get(location+"/rejected").want(t, http.StatusOK, "'-Ana;'+1;2;").body
		again := person.upload("b.csv", strings.ReplaceAll(body, "'+1", "'+55 11 98765-4321")).location
		person.follow(again, "column", "name", "column", "whatsapp", "column", "", "column", "").want(t, http.StatusOK, "Importar 1 cliente")
		person.importNow(person.idOf(again))
		person.get("/customers/1").want(t, http.StatusOK, "-Ana", "98765-4321")
	})
}

// One pass: what is wrong has a button each, and what was chosen stays chosen.
func TestImportIsMendedButtonByButton(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person := office.owner(t, "ana@example.com")
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		err := form.WriteField("cells",
			"Nome\tCelular\tPlano\tValor\nAna\t(11) 8765-4321\tFibra\t1.234,56\nBia\t98765-4322\tFibra\t79,90\nCaio\t(35) 98765-4323\tFibra\t79,90\n")
		if err = errors.Join(err, form.Close()); err != nil {
			t.Fatal(err)
		}
		r := person.request(http.MethodPost, "/imports", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		location := person.do(r).location
		named := []string{"column", "name", "column", "whatsapp", "column", "plan", "column", "value", "leave_out", "true"}
		person.get(location).want(t, http.StatusOK, "Fibra: não existe · 3 linhas", `value="create_missing"`, "Criar", "células coladas")
		named = append(named, "create_missing", "true")
		person.follow(location, append(named, "fix", "create_missing")...).want(t, http.StatusOK, "fica como preço próprio do cliente · 1 linha", "R$ 1.234,56",
			"Completar o nono dígito", `value="ninth_digit"`, "Usar o DDD 35", `value="area_code=35"`, "Importar 3 clientes")
		named = append(named, "ninth_digit", "true")
		person.follow(location, append(named, "fix", "area_code=35")...).want(t, http.StatusOK, "recebeu o nono dígito", "recebeu o DDD que você informou", `value="35"`)
		person.importNow(person.idOf(location))
		person.get("/customers").want(t, http.StatusOK, "(11) 98765-4321", "(35) 98765-4322", "(35) 98765-4323", "R$\u00a079,90", "R$\u00a01.234,56")
	})
}
