package webhook

import (
	_ "embed"
	"encoding/json"

	"carteira/internal/event"
)

//go:embed samples.json
var samplesJSON []byte

// Sample is what a receiver of the event gets, with invented data. Field
// pickers of automation platforms are built from it.
func Sample(name event.Name) json.RawMessage { return samples[name] }

var samples = readSamples()

func readSamples() map[event.Name]json.RawMessage {
	var all map[event.Name]json.RawMessage
	if err := json.Unmarshal(samplesJSON, &all); err != nil {
		panic(err) // a test reads them all
	}
	return all
}
