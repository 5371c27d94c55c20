package bacen_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"carteira/test/kit/gatewaytest"
)

// object is a JSON object.
type object = map[string]any

// autopay is what the double has of PIX Automático.
type autopay struct {
	recs   []object // as they are read one by one
	debits map[string]object
	places int  // given out to point codes at
	late   bool // the day of every debit has come
}

func (d *double) handleAutopay(base string) {
	d.autopay.debits = map[string]object{}
	for pattern, handler := range map[string]http.HandlerFunc{
		"POST /locrec":                        d.makePlace,
		"POST /rec":                           d.makeRec,
		"GET /rec":                            d.listRecs,
		"GET /rec/{id}":                       d.readRec,
		"PATCH /rec/{id}":                     d.endRec,
		"POST /solicrec":                      d.ask,
		"PUT /cobr/{txid}":                    d.announce,
		"GET /cobr/{txid}":                    d.readDebit,
		"PATCH /cobr/{txid}":                  d.cancelDebit,
		"POST /cobr/{txid}/retentativa/{day}": d.retryDebit,
		"PUT /webhookrec":                     d.registerHook,
		"PUT /webhookcobr":                    d.registerHook,
		"GET /webhookrec":                     d.registeredHook,
		"GET /webhookcobr":                    d.registeredHook,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		d.mux.HandleFunc(method+" "+base+path, handler)
	}
}

func makesAutopay(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/rec") ||
		r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/cobr/")
}

func stamped(status string) object {
	return object{"status": status, "data": gatewaytest.Now.Format(stamp)}
}

// step adds a status to the history of something.
func step(thing object, status string) {
	thing["status"] = status
	history, _ := thing["atualizacao"].([]any)
	thing["atualizacao"] = append(history, stamped(status))
}

func (d *double) makePlace(w http.ResponseWriter, _ *http.Request) {
	d.autopay.places++
	reply(w, 201, place(d.autopay.places))
}

func place(id int) object {
	return object{
		"id": id, "location": fmt.Sprintf("pix.example.com/qr/v2/rec/%032d", id), "criacao": gatewaytest.Now.Format(stamp),
	}
}

var company = object{"cnpj": "11222333000181", "nome": "Ana Internet"}

func (d *double) makeRec(w http.ResponseWriter, r *http.Request) {
	made := body(r)
	value, _ := made["valor"].(object)
	if len(value) > 1 {
		d.refuse(w, 400, "RecOperacaoInvalida", "valorRec e valorMinimoRecebedor estão preenchidos")
		return
	}
	again := "N"
	if made["politicaRetentativa"] == "PERMITE_3R_7D" {
		again = "R"
	}
	made["idRec"] = fmt.Sprintf("R%s1234567820261115%011d", again, len(d.autopay.recs)+1)
	made["recebedor"] = company
	if loc, ok := made["loc"].(float64); ok {
		made["loc"] = place(int(loc))
	}
	if start, ok := made["ativacao"].(object); ok {
		start["tipoJornada"] = "AGUARDANDO_DEFINICAO"
	}
	step(made, "CRIADA")
	d.autopay.recs = append(d.autopay.recs, made)
	reply(w, 201, made)
}

func (d *double) rec(id string) object {
	for _, rec := range d.autopay.recs {
		if rec["idRec"] == id {
			return rec
		}
	}
	return nil
}

// listRecs returns one authorisation a page.
func (d *double) listRecs(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	matching := slices.DeleteFunc(slices.Clone(d.autopay.recs), func(rec object) bool {
		debtor := rec["vinculo"].(object)["devedor"].(object)
		return query.Has("cpf") && debtor["cpf"] != query.Get("cpf")
	})
	page, _ := strconv.Atoi(query.Get("paginacao.paginaAtual"))
	listed := []object{}
	if page < len(matching) {
		listed = append(listed, matching[page])
	}
	reply(w, 200, object{
		"parametros": object{
			"inicio": query.Get("inicio"), "fim": query.Get("fim"),
			"paginacao": object{
				"paginaAtual": page, "itensPorPagina": 1, "quantidadeDePaginas": max(len(matching), 1), "quantidadeTotalDeItens": len(matching),
			},
		},
		"recs": listed,
	})
}

func (d *double) readRec(w http.ResponseWriter, r *http.Request) {
	rec := d.rec(r.PathValue("id"))
	if rec == nil {
		d.refuse(w, 404, "RecNaoEncontrada", "Recorrência não encontrada")
		return
	}
	shown := maps.Clone(rec)
	txID := r.URL.Query().Get("txid")
	kind, code := "JORNADA_2", "00020126180014br.gov.bcb.pix80800014br.gov.bcb.pix"+fmt.Sprint(rec["idRec"])
	if cob := d.cobs[txID]; cob != nil {
		kind, code = "JORNADA_3", code+txID
		if cob["loc"].(object)["tipoCob"] == "cobv" {
			kind = "JORNADA_4"
		}
	}
	if rec["loc"] != nil && (txID == "" || kind != "JORNADA_2") {
		shown["dadosQR"] = object{"jornada": kind, "pixCopiaECola": code}
	}
	reply(w, 200, shown)
}

func (d *double) endRec(w http.ResponseWriter, r *http.Request) {
	rec := d.rec(r.PathValue("id"))
	switch {
	case rec == nil:
		d.refuse(w, 404, "RecNaoEncontrada", "Recorrência não encontrada")
	case rec["status"] != "CRIADA" && rec["status"] != "APROVADA":
		d.refuse(w, 400, "RecOperacaoInvalida", "A recorrência encontra-se expirada, cancelada ou rejeitada")
	default:
		d.end(rec, "USUARIO_RECEBEDOR", "SLCR")
		reply(w, 200, rec)
	}
}

func (d *double) end(rec object, party, code string) {
	step(rec, "CANCELADA")
	rec["encerramento"] = object{"cancelamento": object{"solicitante": party, "codigo": code, "descricao": "Cancelamento solicitado"}}
}

func (d *double) ask(w http.ResponseWriter, r *http.Request) {
	asked := body(r)
	rec := d.rec(fmt.Sprint(asked["idRec"]))
	if rec == nil || rec["solicitacao"] != nil {
		d.refuse(w, 400, "SolicRecOperacaoInvalida", "Existe uma solicitação ativa")
		return
	}
	asked["idSolicRec"] = "SC" + fmt.Sprint(rec["idRec"])[2:]
	step(asked, "CRIADA")
	rec["solicitacao"] = []any{asked}
	reply(w, 201, asked)
}

func (d *double) announce(w http.ResponseWriter, r *http.Request) {
	made, txID := body(r), r.PathValue("txid")
	rec := d.rec(fmt.Sprint(made["idRec"]))
	switch {
	case d.autopay.debits[txID] != nil && d.efi:
		d.refuse(w, 409, "txid_duplicado", "O txid encontra-se em uso")
		return
	case d.autopay.debits[txID] != nil, rec == nil, rec["status"] != "APROVADA":
		d.refuse(w, 400, "CobROperacaoInvalida", "A cobrança não pode ser criada")
		return
	}
	made["txid"] = txID
	made["politicaRetentativa"] = rec["politicaRetentativa"]
	maps.Copy(made["recebedor"].(object), company)
	made["calendario"].(object)["criacao"] = "2026-11-15"
	step(made, "CRIADA")
	made["tentativas"] = []any{tried(made["calendario"].(object)["dataDeVencimento"], "AGND")}
	d.autopay.debits[txID] = made
	reply(w, 201, made)
}

func tried(day any, kind string) object {
	attempt := object{
		"dataLiquidacao": day, "tipo": kind, "endToEndId": "E12345678202612010700abcdef12345",
	}
	step(attempt, "AGENDADA")
	return attempt
}

func (d *double) debitOf(w http.ResponseWriter, r *http.Request) object {
	debit := d.autopay.debits[r.PathValue("txid")]
	if debit == nil {
		d.refuse(w, 404, "CobRNaoEncontrado", "Cobrança não encontrada")
	}
	return debit
}

func (d *double) readDebit(w http.ResponseWriter, r *http.Request) {
	if debit := d.debitOf(w, r); debit != nil {
		reply(w, 200, debit)
	}
}

func (d *double) cancelDebit(w http.ResponseWriter, r *http.Request) {
	debit := d.debitOf(w, r)
	if debit == nil {
		return
	}
	if d.autopay.late || debit["status"] != "CRIADA" {
		d.refuse(w, 400, "CobROperacaoInvalida", "Não é possível cancelar a cobrança")
		return
	}
	step(debit, "CANCELADA")
	debit["encerramento"] = object{
		"cancelamento": object{"solicitante": "USUARIO_RECEBEDOR", "codigo": "SLCR", "descricao": "Solicitado"},
	}
	reply(w, 200, debit)
}

func (d *double) retryDebit(w http.ResponseWriter, r *http.Request) {
	debit := d.debitOf(w, r)
	if debit == nil {
		return
	}
	if newest(debit)["status"] != "REJEITADA" || debit["politicaRetentativa"] != "PERMITE_3R_7D" || debit["status"] == "CONCLUIDA" {
		d.refuse(w, 400, "CobROperacaoInvalida", "Existe uma tentativa ativa, ou não é permitida outra")
		return
	}
	debit["tentativas"] = append(debit["tentativas"].([]any), tried(r.PathValue("day"), "NTAG"))
	reply(w, 201, debit)
}

func newest(debit object) object {
	attempts := debit["tentativas"].([]any)
	return attempts[len(attempts)-1].(object)
}

func (d *double) registerHook(w http.ResponseWriter, r *http.Request) {
	if d.efi && r.Header.Get("X-Skip-Mtls-Checking") != "true" {
		d.refuse(w, 400, "WebhookOperacaoInvalida", "A URL não respondeu")
		return
	}
	d.hooks[hookOf(r)], _ = body(r)["webhookUrl"].(string)
	w.WriteHeader(http.StatusOK)
}

func hookOf(r *http.Request) string { return r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] }

func (d *double) registeredHook(w http.ResponseWriter, r *http.Request) {
	if d.hooks[hookOf(r)] == "" {
		d.refuse(w, 404, "NaoEncontrado", "Nenhum webhook")
		return
	}
	reply(w, 200, object{"webhookUrl": d.hooks[hookOf(r)], "criacao": gatewaytest.Now.Format(stamp)})
}
