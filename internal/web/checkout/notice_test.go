package checkout_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"carteira/internal/account"
	"carteira/internal/billing"
	"carteira/internal/payment"
	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/sqldb"
	"carteira/test/kit/housetest"
	"carteira/test/kit/sqldbtest"
)

// proof sends a file as the form does.
func (s *shop) proof(t *testing.T, link string, file []byte, header ...string) answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "x.html")
	housetest.Must(t, err)
	_, err = part.Write(file)
	housetest.Must(t, err)
	housetest.Must(t, form.Close())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link+"/paid", &body)
	housetest.Must(t, err)
	req.Header.Set("Content-Type", form.FormDataContentType())
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return s.send(t, req)
}

func (s *shop) notices(t *testing.T) []payment.Notice {
	t.Helper()
	list, err := s.payments.Notices(t.Context(), s.Actor, s.invoice.ID)
	housetest.Must(t, err)
	return list
}

// screenshot is a JPEG with a remark inside, as cameras write places into theirs.
func screenshot(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	housetest.Must(t, jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, 1000, 400)), nil))
	remark := "GPS 23S 46W"
	head := append([]byte{0xff, 0xd8, 0xff, 0xfe, 0, byte(len(remark) + 2)}, remark...)
	return append(head, file.Bytes()[2:]...)
}

func TestPayerSaysToHavePaidAndNothingIsBooked(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		link := shop.link(t)
		shop.get(t, link).want(t, 200, "Já paguei", `/paid"`)
		shop.get(t, link+"/paid").want(t, 200, `type="file"`, `enctype="multipart/form-data"`, "Enviar para Rede &lt;Clara&gt;").lacks(t, "http-equiv")
		shop.proof(t, link, screenshot(t)).want(t, 200, "recebeu o aviso e vai conferir", "Enviar outro comprovante")
		shop.proof(t, link, []byte("%PDF-1.7\n<script>")).want(t, 200, "recebeu o aviso")
		list := shop.notices(t)
		if len(list) != 2 || list[0].Kind != payment.NoticePDF || list[1].Kind != payment.NoticePicture {
			t.Fatalf("%+v", list)
		}
		_, drawn, err := shop.payments.NoticeFile(t.Context(), shop.Actor, list[1].ID)
		housetest.Must(t, err)
		made, err := png.Decode(bytes.NewReader(drawn))
		housetest.Must(t, err)
		if made.Bounds().Dx() != 800 || bytes.Contains(drawn, []byte("GPS")) {
			t.Errorf("%v is kept of the picture, or its remarks", made.Bounds())
		}
		invoice, err := shop.billing.Find(t.Context(), shop.Actor, shop.invoice.ID)
		housetest.Must(t, err)
		if invoice.Status != billing.Open || invoice.Received != 0 {
			t.Errorf("a word booked money: %+v", invoice)
		}
		if saying, err := shop.payments.SayingPaid(t.Context(), shop.Actor); err != nil || saying != 1 {
			t.Errorf("%d say so, %v", saying, err)
		}
		stranger := account.System(account.Company{ID: shop.Actor.Company.ID + 1, Zone: time.UTC}, "test")
		_, _, err = shop.payments.NoticeFile(t.Context(), stranger, list[0].ID)
		_, dismissed := shop.payments.DismissNotices(t.Context(), stranger, list[0].ID)
		if fault.KindOf(err) != fault.KindNotFound || fault.KindOf(dismissed) != fault.KindNotFound || len(shop.notices(t)) != 2 {
			t.Errorf("another company: %v, %v", err, dismissed)
		}
		shop.status(t, billing.Paid)
		shop.get(t, link+"/paid").want(t, 200, "Pagamento recebido").lacks(t, "Já paguei")
		waiting, total, err := shop.payments.Noticed(t.Context(), shop.Actor, input.Page{Number: 1, Size: 10})
		if err != nil || total != 0 || len(waiting) != 0 {
			t.Errorf("%v of a paid invoice still wait, %v", waiting, err)
		}
		shop.proof(t, link, screenshot(t)).want(t, 200, "Pagamento recebido")
		if n := len(shop.notices(t)); n != 2 {
			t.Errorf("%d notices, want none more of a paid invoice", n)
		}
	})
}

func TestProofsOfStrangersAreBounded(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine)
		link := shop.link(t)
		var huge bytes.Buffer
		housetest.Must(t, png.Encode(&huge, image.NewPaletted(image.Rect(0, 0, 3001, 10), color.Palette{color.Black})))
		for reason, file := range map[string][]byte{
			"escolha um arquivo":         {},
			"deve ser uma imagem PNG":    []byte("<html><script>alert(1)</script>"),
			"3000":                       huge.Bytes(),
			"não pode ter mais de 2 MiB": append([]byte("%PDF-"), make([]byte, payment.MaxNoticeFile)...),
		} {
			shop.proof(t, link, file).want(t, http.StatusUnprocessableEntity, reason, `type="file"`)
		}
		shop.do(t, http.MethodPost, link+"/paid").want(t, http.StatusUnprocessableEntity, "escolha um arquivo")
		shop.proof(t, link, []byte("%PDF-1"), "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden)
		shop.proof(t, link[:len(link)-3]+"xxx", []byte("%PDF-1")).want(t, http.StatusNotFound)
		if n := len(shop.notices(t)); n != 0 {
			t.Fatalf("%d notices of what is none", n)
		}
		send := func(want int) {
			t.Helper()
			shop.proof(t, link, []byte("%PDF-1")).want(t, want)
		}
		for range 3 {
			send(http.StatusOK)
		}
		send(http.StatusTooManyRequests)
		shop.Clock.Advance(25 * time.Hour)
		for range 3 {
			send(http.StatusOK)
		}
		shop.Clock.Advance(25 * time.Hour)
		send(http.StatusTooManyRequests)
		if n := len(shop.notices(t)); n != 6 {
			t.Errorf("%d notices are kept, want 6", n)
		}
		_, err := shop.payments.DismissNotices(t.Context(), shop.Actor, shop.notices(t)[0].ID)
		housetest.Must(t, err)
		send(http.StatusOK)
		shop.Clock.Advance(179 * 24 * time.Hour)
		housetest.Must(t, shop.payments.Prune(t.Context()))
		before := len(shop.notices(t))
		shop.Clock.Advance(2 * 24 * time.Hour)
		housetest.Must(t, shop.payments.Prune(t.Context()))
		if after := len(shop.notices(t)); before != 1 || after != 0 {
			t.Errorf("%d notices after 179 days, %d after 181", before, after)
		}
	})
}

// While one file is on its way, no other of the invoice is read.
func TestOneProofOfAnInvoiceIsReadAtATime(t *testing.T) {
	shop := open(t, sqldb.SQLite, "provider", "bank")
	link := shop.link(t)
	code := link[strings.LastIndex(link, "/")+1:]
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- shop.payments.SayPaid(t.Context(), code, func() ([]byte, error) {
			close(begun)
			<-end
			return []byte("%PDF-1"), nil
		})
	}()
	<-begun
	err := shop.payments.SayPaid(t.Context(), code, func() ([]byte, error) {
		t.Error("a second file is read")
		return nil, io.EOF
	})
	if fault.KindOf(err) != fault.KindRateLimited {
		t.Error(err)
	}
	close(end)
	housetest.Must(t, <-done)
	if n := len(shop.notices(t)); n != 1 {
		t.Errorf("%d notices", n)
	}
}

func TestNoticesGoWithTheirCustomer(t *testing.T) {
	sqldbtest.Dealt(t, func(t *testing.T, engine sqldb.Engine) {
		shop := open(t, engine, "provider", "bank")
		shop.proof(t, shop.link(t), []byte("%PDF-1")).want(t, http.StatusOK)
		housetest.Must(t, shop.Customers.Delete(t.Context(), shop.Actor, shop.invoice.Customer.ID))
		n, err := sqldb.Value[int64](t.Context(), shop.DB, `SELECT COUNT(*) FROM paid_notices`)
		if err != nil || n != 0 {
			t.Errorf("%d notices are left, %v", n, err)
		}
	})
}
