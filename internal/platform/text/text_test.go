package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Beyond this, Unicode has no letters yet: every rune would take seconds under the race detector.
const lastLetter rune = 0x33480

func TestFold(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"joao", "joao"},
		{"JOÃO", "joao"},
		{"João da Silva", "joao da silva"},
		{"Joa\u0303o", "joao"},
		{"Conceição Muñoz Gößler", "conceicao munoz gossler"},
		{"Søren Łukasz Ægir Œuvre Đoković Ðór Þór Ħal Diyarbakır ẞ", "soren lukasz aegir oeuvre dokovic dor thor hal diyarbakir ss"},
		{"İstanbul", "istanbul"},
		{"ΣΊΣΥΦΟΣ Σίσυφος", "σισυφοσ σισυφοσ"},
		{"Ёлка", "елка"},
		{"  a \t\r\n b\x00\x7f\u0085c\u00a0\u3000d\u2028", "a b c d"},
		{" \u200b \n", ""},
		{"Ma\u200bria\u00ad \ufeffClara", "maria clara"},
		{"Sant’Ana D´Ávila 1º", "sant'ana d'avila 1o"},
		{"田中さん 李", "田中さん 李"},
		{"が", "か"},
		{"👩‍👧 VIP", "👩👧 vip"},
		{"+55 (11) 9", "+55 (11) 9"},
		{"a\xffb", "a\ufffdb"},
	}
	for _, tt := range tests {
		if got := Fold(tt.in); got != tt.want {
			t.Errorf("Fold(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestFoldKeepsItsPromisesForEveryRune(t *testing.T) {
	for r := range lastLetter {
		checkFold(t, string(r))
	}
	for r := rune(0x4E00); r <= 0x9FFF; r++ {
		if got := Fold(string(r)); got != string(r) {
			t.Errorf("ideograph %U became %q", r, got)
		}
	}
}

func TestFoldOfASCIIAllocatesOnlyItsResult(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { _ = Fold("Maria  Clara DOS Santos\t11 98765-4321") }); n > 1 {
		t.Errorf("Fold made %v allocations", n)
	}
}

func FuzzFold(f *testing.F) {
	for _, seed := range []string{"João", "a\x00b", "\xff\xfe", "ẞ Å \u0301", "\U0001D16D\u200d\U0001D165", strings.Repeat("\u0301", 70)} {
		f.Add(seed)
	}
	f.Fuzz(checkFold)
}

func checkFold(t *testing.T, text string) {
	t.Helper()
	once := Fold(text)
	if twice := Fold(once); twice != once {
		t.Fatalf("Fold(%q) = %q, but folded again %q", text, once, twice)
	}
	if !utf8.ValidString(once) || strings.ContainsFunc(once, unicode.IsControl) || strings.TrimSpace(once) != once {
		t.Fatalf("Fold(%q) = %q", text, once)
	}
}

func TestWordsLeavePunctuationOut(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " - ": "", "Código:": "codigo", "Valor (R$)": "valor r", "data_de_vencimento": "data de vencimento", "Nº\tCPF": "no cpf",
	} {
		if got := Words(in); got != want {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLower(t *testing.T) {
	tests := []struct{ a, b string }{
		{"ANA", "ana"},
		{"JOÃO", "joão"},
		{"Joa\u0303o", "joão"},
		{"ana.Maria@Example.COM", "ana.maria@example.com"},
	}
	for _, tt := range tests {
		if Lower(tt.a) != Lower(tt.b) {
			t.Errorf("Lower(%q) = %q, Lower(%q) = %q", tt.a, Lower(tt.a), tt.b, Lower(tt.b))
		}
	}
	if Lower("joão") == Lower("joao") {
		t.Error("Lower dropped an accent: two people would share a login")
	}
	for r := range lastLetter {
		if once := Lower(string(r)); Lower(once) != once {
			t.Errorf("Lower(%U) = %q, then %q", r, once, Lower(once))
		}
	}
}

func TestDigits(t *testing.T) {
	for in, want := range map[string]string{"": "", "+55 (11) 98765-4321": "5511987654321", "abc": "", "１٢3": "3", "\xff7": "7"} {
		if got := Digits(in); got != want {
			t.Errorf("Digits(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	known := []string{"name", "email", "whatsapp", "usuario", "data_de_vencimento", "plan_id", "product_id", "notes", "id"}
	tests := []struct{ word, want string }{
		{"nam", "name"},
		{"naem", "name"},
		{"e-mail", "email"},
		{"emial", "email"},
		{"Usuário", "usuario"},
		{"watsap", "whatsapp"},
		{"data_do_vencimento", "data_de_vencimento"},
		{"planid", "plan_id"},
		{"note", "notes"},
		{"ix", ""},
		{"i", ""},
		{"", ""},
		{"telefone", ""},
		{"na", ""},
		{"amet", ""},
		{strings.Repeat("x", 1<<20), ""},
	}
	for _, tt := range tests {
		if got := Near(tt.word, known); got != tt.want {
			t.Errorf("Near(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
	if got := Near("plan", nil); got != "" {
		t.Errorf("Near among nothing = %q", got)
	}
	if got := Near("namo", []string{"nama", "name"}); got != "nama" {
		t.Errorf("of two equally near, got %q, want the first", got)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"abc", "abc", 0},
		{"abc", "acb", 1},
		{"abc", "abd", 1},
		{"abc", "xabc", 1},
		{"kitten", "sitting", 3},
		{"ca", "abc", 3},
		{"ab", "ba", 1},
	}
	for _, tt := range tests {
		if got := distance([]rune(tt.a), []rune(tt.b)); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
