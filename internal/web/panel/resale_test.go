package panel

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carteira/internal/account"
	"carteira/internal/platform/sqldb"
	"carteira/internal/reseller"
)

// seller is an owner of a company with credits and a plan of 3 credits a month.
func (o *office) seller(t *testing.T, email string) (*person, reseller.Plan) {
	t.Helper()
	person := o.owner(t, email)
	if _, err := o.Resellers.Grant(t.Context(), person.actor, reseller.ReadCreditRequest(values("amount", "100"))); err != nil {
		t.Fatal(err)
	}
	plan, err := o.Resellers.CreatePlan(t.Context(), person.actor, reseller.ReadNewPlan(values("name", "Revenda", "value", "49.90", "credits", "3")))
	if err != nil {
		t.Fatal(err)
	}
	return person, plan
}

func (p *person) balance() int64 {
	p.t.Helper()
	n, err := p.Resellers.Balance(p.t.Context(), p.actor)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *person) theReseller(id int64) reseller.Reseller {
	p.t.Helper()
	seller, err := p.Resellers.Find(p.t.Context(), p.actor, id)
	if err != nil {
		p.t.Fatal(err)
	}
	return seller
}

var invitation = regexp.MustCompile(`https://carteira\.example(/password/[\w-]+)`)

func TestResellerIsMadeInvitedAndSignsIn(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person, plan := office.seller(t, "ana@example.com")
		person.get("/resellers").want(t, http.StatusOK, "Nenhum revendedor ainda")
		person.get("/resellers/new").want(t, http.StatusOK, "Revenda · 3 créditos por mês", "Você tem 100")
		// What was typed stays when it is refused, except the password.
		person.post("/resellers/new", "name", "Loja", "email", "nope", "type", "subscriber", "plan_id", fmt.Sprint(plan.ID), "periods", "2", "password", "segredo-curto").
			want(t, http.StatusUnprocessableEntity, `value="Loja"`, `value="nope"`, `value="2"`, `value="subscriber" checked`).lacks(t, "segredo-curto")
		person.post("/resellers/new", "name", "Loja", "email", "loja@example.com", "type", "subscriber", "plan_id", fmt.Sprint(plan.ID), "periods", "50").
			want(t, http.StatusUnprocessableEntity, "créditos insuficientes: são necessários 150, e há 100")
		made := person.post("/resellers/new", "name", "Loja", "email", "loja@example.com", "type", "subscriber", "plan_id", fmt.Sprint(plan.ID), "periods", "2").
			want(t, http.StatusOK, "Loja: cadastro criado", "Créditos gastos: 6. Créditos restantes: 94.", "não será mostrado de novo")
		link := invitation.FindStringSubmatch(made.body)
		if link == nil {
			t.Fatal("no invitation is shown")
		}
		list := person.get("/resellers?search=loja").want(t, http.StatusOK, "Loja", "Ativo", "31/03/2026")
		path := regexp.MustCompile(`/resellers/\d+`).FindString(mainOf(list.body))
		person.get(path).want(t, http.StatusOK, "Novo convite").lacks(t, link[1])
		again := person.post(path+"/invite").want(t, http.StatusOK, "Um novo convite")
		newer := invitation.FindStringSubmatch(again.body)
		other := office.visitor(t)
		other.get(link[1]).want(t, http.StatusNotFound)
		other.follow(newer[1], "password", password)
		other.get("/credits").want(t, http.StatusOK, `id="balance-value">0<`)
		person.get(path).want(t, http.StatusOK).lacks(t, "Novo convite")
		person.follow(path+"/invite").want(t, http.StatusOK, "o dono já tem uma senha")
		person.follow("/resellers/new", "name", "Outra", "email", "outra@example.com", "type", "trial", "plan_id", fmt.Sprint(plan.ID), "periods", "1", "password", password).
			want(t, http.StatusOK, "Outra: cadastro criado. Créditos gastos: 0. Créditos restantes: 94.", "Em teste").lacks(t, "/password/")
	})
}

func TestResellersAreFilteredAsInTheAPI(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person, plan := office.seller(t, "ana@example.com")
	ids := map[string]int64{}
	for name, more := range map[string][]string{
		"Alfa": {"type", "subscriber", "plan_id", fmt.Sprint(plan.ID)}, "Beta": nil, "Gama": nil,
	} {
		paid, err := office.Resellers.Create(t.Context(), person.actor, reseller.ReadNewReseller(values(append([]string{"name", name, "email", name + "@example.com"}, more...)...)))
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = paid.ID
	}
	person.post(fmt.Sprintf("/resellers/%d/suspend", ids["Gama"]))
	person.post(fmt.Sprintf("/resellers/%d/level", ids["Beta"]), "level", "reseller")
	for query, want := range map[string]string{
		"": "Alfa Beta Gama", "status=active": "Alfa", "status=trial": "Beta", "status=suspended": "Gama", "status=expired": "", "level=reseller": "Beta",
		"search=alf": "Alfa", "expires_to=2026-02-10": "Beta Gama", "expires_from=2026-02-20": "Alfa", fmt.Sprintf("plan_id=%d", plan.ID): "Alfa Beta Gama",
	} {
		answer := person.get("/resellers?"+query).want(t, http.StatusOK)
		for name := range ids {
			if shown := strings.Contains(answer.body, ">"+name+"</a>"); shown != strings.Contains(want, name) {
				t.Errorf("%s shows %s: %v", query, name, shown)
			}
		}
	}
	person.get("/resellers?search=zzz").want(t, http.StatusOK, "Ninguém")
	person.get("/resellers?expires_from=amanha").want(t, http.StatusOK, "Alfa", `aria-invalid="true"`, `value="amanha"`)
}

func TestOnlyLevelsOfThePromotionTableAreOffered(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	child := person.below()
	grandchild := child.below()
	for _, caller := range account.Levels[1:] {
		child.become(caller, account.EveryFunction)
		for _, present := range account.Levels {
			grandchild.become(present, account.EveryFunction)
			path := fmt.Sprintf("/resellers/%d", grandchild.actor.Company.ID)
			offered, why := reseller.LevelsFor(caller, present)
			answer := child.get(path+"/level").want(t, http.StatusOK)
			for _, level := range account.Levels {
				want := slices.Contains(offered, level)
				if shown := strings.Contains(answer.body, fmt.Sprintf(`name="level" value="%s"`, level)); shown != want {
					t.Errorf("%s is offered to make %s of %s: %v", caller, level, present, shown)
				}
			}
			if why != nil {
				answer.want(t, http.StatusOK, "nível: uma empresa de nível "+string(caller))
				child.post(path+"/level", "level", "user").want(t, http.StatusForbidden, "nível: uma empresa de nível "+string(caller))
			}
		}
	}
	child.become(account.LevelUltraMaster, account.EveryFunction)
	grandchild.become(account.LevelUser, account.EveryFunction)
	path := fmt.Sprintf("/resellers/%d", grandchild.actor.Company.ID)
	child.follow(path+"/level", "level", "master").want(t, http.StatusOK, "agora tem o nível Master")
	child.post(path+"/level").want(t, http.StatusUnprocessableEntity)
}

var agreed = regexp.MustCompile(`name="agreed" value="(\d+)"`)

func TestRenewalShowsItsCostBeforeItIsDone(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person, plan := office.seller(t, "ana@example.com")
		paid, err := office.Resellers.Create(t.Context(), person.actor, reseller.ReadNewReseller(values("name", "Loja", "email", "loja@example.com", "plan_id", fmt.Sprint(plan.ID))))
		if err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/resellers/%d/renew", paid.ID)
		answer := person.get(path+"?periods=2").want(t, http.StatusOK, "100 → 94", "07/04/2026", "Renovar, por 6 créditos")
		if m := agreed.FindStringSubmatch(answer.body); m == nil || m[1] != "6" {
			t.Errorf("agreed %v", m)
		}
		person.get(path+"?periods=40").want(t, http.StatusOK, "Você não tem créditos suficientes").lacks(t, `name="agreed"`)
		person.get(path+"?periods=0").want(t, http.StatusOK, "Períodos: ").lacks(t, `name="agreed"`)
		person.get(path+"?plan_id=999").want(t, http.StatusOK, "Plano: não existe").lacks(t, `name="agreed"`)
		if person.balance() != 100 {
			t.Fatal("looking cost something")
		}
		// Dearer meanwhile: nothing is spent, and the new cost is shown.
		if _, err := office.Resellers.UpdatePlan(t.Context(), person.actor, plan.ID, reseller.ReadPlanChanges(values("credits", "5"))); err != nil {
			t.Fatal(err)
		}
		person.post(path, "plan_id", fmt.Sprint(plan.ID), "periods", "2", "agreed", "6").want(t, http.StatusConflict, "o preço do plano mudou", "100 → 90")
		if person.balance() != 100 {
			t.Fatal("a renewal at another price was paid")
		}
		person.follow(path, "plan_id", fmt.Sprint(plan.ID), "periods", "2", "agreed", "10").
			want(t, http.StatusOK, "Loja: renovação até 07/04/2026. Créditos gastos: 10. Créditos restantes: 90.")
		if got := person.theReseller(paid.ID); got.Subscription.ExpiresOn.String() != "2026-04-07" || person.balance() != 90 {
			t.Errorf("%+v, %d credits", got.Subscription, person.balance())
		}
	})
}

func TestCreditsAreSentAndTakenBackAfterAQuestion(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		person, _ := office.seller(t, "ana@example.com")
		child := person.below("name", "Loja")
		path := fmt.Sprintf("/resellers/%d", child.actor.Company.ID)
		person.get(path+"/send").want(t, http.StatusOK, "Quantos créditos").lacks(t, `role="alert"`)
		person.get(path+"/send?amount=0").want(t, http.StatusUnprocessableEntity, `value="0"`, `role="alert"`)
		person.get(path+"/send?amount=101&note=lote").want(t, http.StatusUnprocessableEntity, "são necessários 101, e há 100", `value="lote"`)
		person.get(path+"/send?amount=30&note=lote").want(t, http.StatusOK, "Enviar 30 créditos a Loja?", "100 → 70", "0 → 30", `name="amount" value="30"`)
		if person.balance() != 100 {
			t.Fatal("a question moved credits")
		}
		person.follow(path+"/send", "amount", "30", "note", "lote").want(t, http.StatusOK, "Créditos enviados a Loja. Restam 70 a você; ele tem 30.")
		person.post(path+"/send", "amount", "71").want(t, http.StatusUnprocessableEntity, "são necessários 71, e há 70", `value="71"`)
		person.get(path+"/take-back?amount=31").want(t, http.StatusUnprocessableEntity, "são necessários 31, e há 30")
		person.get(path+"/take-back?amount=10").want(t, http.StatusOK, "Retomar 10 créditos de Loja?", "70 → 80", "30 → 20")
		person.follow(path+"/take-back", "amount", "10").want(t, http.StatusOK, "Você tem 80 agora; ele tem 20.")
		person.get("/credits").want(t, http.StatusOK, `id="balance-value">80<`, "+10", "-30", "lote", ">Ana<", `href="/credits/grant"`)
		// The reseller sees which company it came from, and not who of its people.
		child.get("/credits").want(t, http.StatusOK, `id="balance-value">20<`, "Recebidos da empresa acima", "Retomados pela empresa acima", "Rede ana@example.com").
			lacks(t, ">Ana<", "/credits/grant")
		person.get(path).want(t, http.StatusOK, "Créditos enviados", "Créditos retomados") // its history
	})
}

func TestStatementGoesBackInPages(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person := office.owner(t, "ana@example.com")
	for i := range 5 {
		if _, err := office.Resellers.Grant(t.Context(), person.actor, reseller.ReadCreditRequest(values("amount", "1", "note", fmt.Sprintf("nota-%02d.", i)))); err != nil {
			t.Fatal(err)
		}
	}
	person.get("/credits?per_page=3").want(t, http.StatusOK, "nota-04.", "nota-02.", "5 lançamentos · entraram 5, saíram 0", "Próxima").lacks(t, "nota-01.", "Anterior")
	person.get("/credits?per_page=3&page=2").want(t, http.StatusOK, "nota-01.", "nota-00.", "Anterior").lacks(t, "nota-02.", "Próxima")
	person.get("/credits?page=x").want(t, http.StatusOK, "nota-04.")
}

func TestSubscriptionPlanPages(t *testing.T) {
	inOffice(t, func(t *testing.T, office *office) {
		root := office.owner(t, "root@example.com")
		person := root.below()
		person.become(account.LevelReseller, account.FunctionsOf(account.FunctionResellers, account.FunctionAPI, account.FunctionImport))
		person.get("/subscription-plans").want(t, http.StatusOK, "Nenhum plano de assinatura ainda")
		person.get("/subscription-plans/new").want(t, http.StatusOK, `value="api" checked`, `value="import" checked`).lacks(t, `value="webhooks"`)
		person.post("/subscription-plans/new", "name", "", "value", "x", "credits", "-1", "functions", "api").
			want(t, http.StatusUnprocessableEntity, `value="x"`, `value="-1"`, `value="api" checked`).lacks(t, `value="import" checked`)
		person.post("/subscription-plans/new", "name", "Maior", "value", "1", "credits", "1", "functions", "webhooks").
			want(t, http.StatusUnprocessableEntity, "a própria empresa não tem webhooks")
		made := person.follow("/subscription-plans/new", "name", "Início", "value", "1.049,90", "credits", "2", "period_count", "1", "period_unit", "month",
			"trial_days", "5", "functions", "api").want(t, http.StatusOK, "Início: cadastro criado", `value="1.049,90"`, "/signup/")
		made.want(t, http.StatusOK, `value="api" checked disabled`).lacks(t, `value="import" checked`)
		path := regexp.MustCompile(`/subscription-plans/\d+`).FindString(mainOf(made.body))
		link := signupLink.FindString(made.body)

		// None is taken away, whatever is sent.
		person.follow(path, "name", "Início", "value", "20,00", "credits", "2", "period_count", "1", "period_unit", "month", "trial_days", "5", "active", "true",
			"functions", "import").want(t, http.StatusOK, "R$\u00a020,00", "Importação", ">API<")
		person.get(path+"/link").want(t, http.StatusOK, "para de funcionar na hora")
		renewed := person.follow(path+"/link").want(t, http.StatusOK, "tem um novo link de cadastro")
		if now := signupLink.FindString(renewed.body); now == link || now == "" || link == "" {
			t.Errorf("the link was %q and is %q", link, now)
		}
		person.follow(path+"/active", "active", "false").want(t, http.StatusOK, "não está mais à venda", "Pôr à venda").lacks(t, "/signup/")
		person.get("/subscription-plans?active=true").want(t, http.StatusOK, "Nada encontrado")
		person.follow(path+"/active", "active", "true").want(t, http.StatusOK, "está à venda")
		// With no box ticked a plan has no function, rather than all.
		person.follow("/subscription-plans/new", "name", "Vazio", "value", "1", "credits", "1", "period_count", "1", "period_unit", "week", "trial_days", "0")
		person.get("/subscription-plans?search=vazio").want(t, http.StatusOK, "Sem funções", "por semana").lacks(t, "/signup/")
	})
}

var signupLink = regexp.MustCompile(`https://carteira\.example/signup/\w+`)

func TestSuspendedResellerIsResumed(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person, _ := office.seller(t, "ana@example.com")
	child := person.below("name", "Loja")
	path := fmt.Sprintf("/resellers/%d", child.actor.Company.ID)
	person.get(path+"/suspend").want(t, http.StatusOK, "Suspender Loja?", `id="ask"`)
	person.follow(path+"/suspend").want(t, http.StatusOK, "Loja está suspenso.", "Reativar")
	child.post("/products/new", "name", "x").want(t, http.StatusForbidden, "Sua empresa está suspensa.")
	person.follow(path+"/resume").want(t, http.StatusOK, "não está mais suspenso")
	child.follow("/products/new", "name", "Fibra").want(t, http.StatusOK, "Fibra")
	person.follow(path+"/edit", "name", "Loja Nova", "whatsapp", "").want(t, http.StatusOK, "Loja Nova")
	person.post(path+"/edit", "name", "Loja Nova", "email", "nova@example.com").want(t, http.StatusUnprocessableEntity, "só ele pode trocá-lo", `value="nova@example.com"`)
}

// A viewer sees resellers and credits, and is offered nothing to do.
func TestReadersSeeResaleWithoutForms(t *testing.T) {
	office := newOffice(t, sqldb.SQLite)
	person, plan := office.seller(t, "ana@example.com")
	child := person.below("plan_id", fmt.Sprint(plan.ID))
	rita := person.colleague(account.RoleReadOnly)
	for _, path := range []string{"/resellers", fmt.Sprintf("/resellers/%d", child.actor.Company.ID), "/subscription-plans", "/credits"} {
		answer := rita.get(path).want(t, http.StatusOK)
		if main := unarranged(answer.body); strings.Contains(main, `method="post"`) || strings.Contains(main, "/new") || strings.Contains(main, "/send") {
			t.Errorf("%s offers something to do", path)
		}
	}
}
