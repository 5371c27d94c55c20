package panel

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/web/panel/kit"
)

func TestCustomersPageIsSharedAndWithdrawnFromTheRecord(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		path := fmt.Sprintf("/customers/%d", ana.fill()["customers"])
		ana.get(path).want(t, http.StatusOK, "Página do cliente", "Criar o link").lacks(t, "/my/")
		shown := ana.follow(path+"/page").want(t, http.StatusOK, "O link está pronto para ser enviado.", "https://carteira.example/my/", "wa.me/5511987654321?text=Ol%C3%A1%2C%20Jo%C3%A3o%21")
		link := regexp.MustCompile(`/my/[0-9a-z]+`).FindString(strings.ToLower(shown.body))
		if len(link) < 30 {
			t.Errorf("the link %q can be guessed", link)
		}
		ana.get(path+"/page/withdraw").want(t, http.StatusOK, "Cancelar o link de João", "para de funcionar na hora")
		ana.follow(path+"/page/withdraw").want(t, http.StatusOK, "O link foi cancelado.", "Criar o link").lacks(t, "/my/")
		ana.get("/settings/audit").want(t, http.StatusOK, "Página do cliente aberta", "Página do cliente cancelada")
		ana.follow(path + "/page")
		ana.colleague(account.RoleReadOnly).get(path).want(t, http.StatusOK).lacks(t, "/my/", "Página do cliente")
	})
}

// sendLogo sends a file as the form of the settings does.
func (p *person) sendLogo(file []byte) answer {
	p.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("logo", "logo.svg")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	r := p.request(http.MethodPost, "/settings/logo", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return p.do(r)
}

func TestLogoIsAPictureOfOurOwnMaking(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
		ana.sendLogo(svg).want(t, http.StatusUnprocessableEntity, "deve ser uma imagem PNG ou JPEG", `value="Rede ana@example.com"`)
		ana.sendLogo(nil).want(t, http.StatusUnprocessableEntity, "escolha um arquivo")
		ana.sendLogo(make([]byte, account.MaxLogoFile+1)).want(t, http.StatusUnprocessableEntity, "não pode ter mais de 2 MiB")
		ana.sendLogo(make([]byte, account.MaxLogoFile+2*kit.MaxForm)).want(t, http.StatusUnprocessableEntity, "não pode ter mais de 2 MiB")
		ana.post("/settings/logo").want(t, http.StatusUnprocessableEntity, "escolha um arquivo")
		ana.get("/settings").want(t, http.StatusOK).lacks(t, "/logo/")

		var file bytes.Buffer
		if err := png.Encode(&file, image.NewPaletted(image.Rect(0, 0, 30, 10), color.Palette{color.Black})); err != nil {
			t.Fatal(err)
		}
		if answer := ana.sendLogo(file.Bytes()); answer.location != "/settings#brand" {
			t.Fatalf("%d %s", answer.status, answer.body)
		}
		ana.get("/settings").want(t, http.StatusOK, "O logo foi salvo.", `src="/logo/`)
		ana.follow("/settings/logo/remove").want(t, http.StatusOK, "O logo foi removido.").lacks(t, `src="/logo/`)
		ana.get("/settings/audit").want(t, http.StatusOK, "Configurações")
	})
}

func TestColorIsSavedWithTheSettings(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		ana := office.owner(t, "ana@example.com")
		ana.get("/settings").want(t, http.StatusOK, `type="color" value="#05694b"`)
		ana.follow("/settings", "name", "Rede", "color", "#7A1FA2").want(t, http.StatusOK, `value="#7a1fa2"`)
		ana.post("/settings", "name", "Rede", "color", "red").want(t, http.StatusUnprocessableEntity, "deve ser uma cor")
		ana.follow("/settings", "name", "Rede", "color", "#05694b").want(t, http.StatusOK, `value="#05694b"`)
	})
}
