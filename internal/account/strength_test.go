package account

import (
	"testing"

	"carteira/internal/platform/fault"
)

func TestMostUsedPasswordsAreRefused(t *testing.T) {
	for _, word := range []string{
		"12345678", "123456789", "1234567890", "87654321", "11111111", "00000000", "12341234", "121212121212", "abcd1234", "1q2w3e4r",
		"password", "Password1!", "P@ssw0rd", "passw0rd123", "senha123", "Senha@2026", "SENHA1234", "s3nh4123", "minhasenha", "mudar123",
		"qwertyui", "QWERTY123", "qwerty12345", "asdfghjk", "zxcvbnm1", "1qaz2wsx", "brasil2026", "Flamengo10", "corinthians1910",
		"jesuscristo", "deusefiel", "teamo123", "iloveyou", "admin123", "Administrador", "welcome1", "letmein123", "abcdefgh", "carteira1",
		"princesa12", "gabriel123",
	} {
		if weakness(word) == "" {
			t.Errorf("%q is accepted", word)
		}
	}
	for _, word := range []string{"correct horse", "cavalo bateria grampo", "Xk9#mQ2v", "minha avó faz bolo às 3", "rede-clara-vende-fibra", "a long enough one"} {
		if reason := weakness(word); reason != "" {
			t.Errorf("%q is refused: %s", word, reason)
		}
	}
}

func TestNamesAreNoPasswords(t *testing.T) {
	for word, refused := range map[string]bool{
		"RedeClara": true, "rede clara 2026": true, "R3d3Cl4r4!": true, "redeclara1": true, "clara.silva": true,
		"correct horse": false, "a rede da clara pega bem": false, "": false,
	} {
		err := RefusePassword(word, "Rede Clara", mailbox("clara.silva@example.com"))
		if got := fault.KindOf(err) == fault.KindInvalid && err != nil; got != refused {
			t.Errorf("%q is refused: %t", word, got)
		}
	}
}
