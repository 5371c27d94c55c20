//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"carteira/internal/platform/civil"
	"carteira/internal/platform/text"
)

// person is customer number i of the seeded company. It follows from i alone,
// so that a request can name what is in the database without asking it.
type person struct {
	name, phone, email, usuario, external, notes string

	due  civil.Date // zero: none
	plan int        // index into plans; -1: none
}

var (
	firstNames = strings.Fields(`Ana João Maria José Antônia Luís Conceição Sebastião Lívia Caio Íris Tomé
		Beatriz Gustavo Inês Flávio Patrícia Mário Sônia César Débora Vinícius Mônica Renato Letícia Otávio
		Cláudia Fábio Júlia Rogério Luíza André Simone Paulo Tânia Murilo Yara Nélson Elaine Iúri`)
	lastNames = strings.Fields(`Silva Souza Araújo Gonçalves Pereira Magalhães Santos Assunção Lima Brandão
		Oliveira Rodrigues Ferreira Alves Ribeiro Carvalho Gomes Martins Rocha Barbosa Moura Cardoso Teixeira
		Correia Dias Nunes Moreira Freitas Campos Leão Batista Fonseca Queirós Simões Peçanha Quintão`)
	areaCodes = strings.Fields("11 21 31 41 51 61 71 81 85 91 47 19 62 27 48")
	mailHosts = strings.Fields("gmail.com hotmail.com yahoo.com.br uol.com.br outlook.com")
)

// planShare is how many of a thousand customers each plan has; the rest have
// none. The last is rare on purpose: a filter on it finds few among many.
var planShare = []int{400, 250, 150, 90, 40, 20, 1}

// personOf makes customer number i, for due dates around today.
func personOf(i int, today civil.Date) person {
	r := rand.New(rand.NewPCG(uint64(i), 20270131))
	first, last := pick(r, firstNames), pick(r, lastNames)
	p := person{name: first + " " + last, plan: planOf(r.IntN(1000)), due: dueOf(r, today)}
	if r.IntN(2) == 0 {
		p.name += " " + pick(r, lastNames)
	}
	code := strconv.FormatInt(int64(i)*7919+1_000_000, 36)
	p.usuario = text.Fold(first) + "." + code
	if r.IntN(10) > 0 {
		p.phone = fmt.Sprintf("55%s9%d%07d", pick(r, areaCodes), 6+r.IntN(4), r.IntN(10_000_000))
	}
	if r.IntN(10) > 1 {
		p.email = fmt.Sprintf("%s.%s%d@%s", text.Fold(first), text.Fold(last), r.IntN(10_000), pick(r, mailHosts))
	}
	if r.IntN(10) > 3 {
		p.external = fmt.Sprintf("CRM-%08d", i)
	}
	if r.IntN(5) == 0 {
		p.notes = "Prefere contato à tarde; instalação no endereço da loja."
	}
	return p
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func planOf(n int) int {
	for i, share := range planShare {
		if n -= share; n < 0 {
			return i
		}
	}
	return -1
}

// dueOf gives most a date in the coming month, one in seven a date that has
// passed, some a far one and some none.
func dueOf(r *rand.Rand, today civil.Date) civil.Date {
	switch n := r.IntN(100); {
	case n < 5:
		return civil.Date{}
	case n < 20:
		return today.AddDays(-1 - r.IntN(365))
	case n < 30:
		return today.AddDays(31 + r.IntN(335))
	}
	return today.AddDays(r.IntN(31))
}
