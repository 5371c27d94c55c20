package input

import (
	"testing"

	"carteira/internal/platform/fault"
)

func TestProblemsAreMergedUnderTheNamesThatWereSent(t *testing.T) {
	form := fromJSON(t, `{"username":"joao","email":"x","naem":"Ana"}`)
	form.Alias("username", "usuario")
	form.Line("usuario", 10)
	form.Line("name", 10)
	form.Email("email")
	read := form.Problems()

	var rules fault.Fields
	rules.Add("usuario", "is taken")
	rules.Add("email", "must be a valid e-mail address")
	wantRefused(t, read.With(rules).Err(), map[string]string{
		"email": "must be a valid e-mail address", "naem": "unknown field; did you mean name?", "username": "is taken",
	})
	wantRefused(t, read.Err(), map[string]string{
		"email": "must be a valid e-mail address", "naem": "unknown field; did you mean name?",
	})
	if (Problems{}).Any() || (Problems{}).Err() != nil {
		t.Error("the input of a Go caller has problems")
	}
}
