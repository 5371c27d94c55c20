package openapi

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

// texts collects what a document says at the places that pt.yaml translates.
func texts(t *testing.T, document []byte) map[string]string {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range []string{"title", "summary", "description"} {
		found["info "+name] = at(at(root.Content[0], "info"), name).Value
	}
	for _, tag := range at(root.Content[0], "tags").Content {
		name := at(tag, "name").Value
		found["tag "+name] = at(tag, "description").Value
		found["display of tag "+name] = at(tag, "x-displayName").Value
	}
	for _, part := range []string{"paths", "webhooks"} {
		for _, operation := range operations(at(root.Content[0], part)) {
			id := at(operation, "operationId").Value
			found["summary of "+id] = at(operation, "summary").Value
			found["description of "+id] = at(operation, "description").Value
		}
	}
	return found
}

func TestWholeDocumentHasItsPortuguese(t *testing.T) {
	english, portuguese := texts(t, YAML), texts(t, Portuguese())
	if len(portuguese) != len(english) {
		t.Fatalf("%d texts of %d", len(portuguese), len(english))
	}
	for place, text := range portuguese {
		same := text == english[place] && !isEvent(text)
		if text == "" && english[place] != "" || same && text != "" {
			t.Errorf("pt.yaml has nothing for the %s: %q", place, english[place])
		}
	}
}

// isEvent reports whether a summary is the name of an event, which is one in every
// language.
func isEvent(summary string) bool {
	for _, letter := range summary {
		if letter != '.' && letter != '_' && (letter < 'a' || letter > 'z') {
			return false
		}
	}
	return true
}

func TestPortugueseNamesNothingThatIsGone(t *testing.T) {
	var words translation
	if err := yaml.Unmarshal(translations, &words); err != nil {
		t.Fatal(err)
	}
	there := texts(t, YAML)
	for id := range words.Operations {
		if _, ok := there["summary of "+id]; !ok {
			t.Errorf("pt.yaml translates %s, which is no operation", id)
		}
	}
	for name := range words.Tags {
		if _, ok := there["tag "+name]; !ok {
			t.Errorf("pt.yaml translates %s, which is no tag", name)
		}
	}
}

func TestPortugueseChangesNothingElse(t *testing.T) {
	var plain, translated yaml.Node
	if err := yaml.Unmarshal(YAML, &plain); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(Portuguese(), &translated); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"servers", "security", "components"} {
		want, err := encode(at(plain.Content[0], part))
		if err != nil {
			t.Fatal(err)
		}
		got, err := encode(at(translated.Content[0], part))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs: %v", part, err)
		}
	}
}
