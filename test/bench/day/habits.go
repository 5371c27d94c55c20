package main

import "math"

// habit is something that companies do, so many times a day each.
type habit struct {
	name       string
	cost       cost
	perCompany float64 // times a day
	perClient  float64 // times a day for each customer
	when       func(hour float64) float64
	night      bool // the calendar brings it at midnight, and it may wait
}

// month is how long a period of most plans is, in days.
const month = 30

// habits are those of a company whose customers pay monthly. Half of the
// companies have a webhook, a tenth an integration that polls once a minute.
func habits() []habit {
	return []habit{
		{name: "invoice issued", cost: issue, perClient: 1.0 / month, night: true},
		{name: "customer expired", cost: change, perClient: 0.15 / month, night: true},
		{name: "payment and renewal", cost: pay, perClient: 0.9 / month, when: office},
		{name: "message", cost: message, perClient: 3.0 / month, when: morning},
		{name: "customer created", cost: create, perCompany: 1, when: office},
		{name: "customer changed", cost: change, perCompany: 10, when: office},
		{name: "delivery", cost: deliver, perCompany: 11.0 / 2, perClient: (1 + 0.15 + 2*0.9) / month / 2, when: office},
		{name: "list by the API", cost: list, perCompany: 100, when: office},
		{name: "record read by the API", cost: read, perCompany: 100, when: office},
		{name: "poll of the feed", cost: poll, perCompany: 24 * 60 / 10, when: always},
		{name: "page of the panel", cost: page, perCompany: 60, when: office},
	}
}

// The shapes of a day: how much happens at an hour, the mean being 1.
func always(float64) float64 { return 1 }

// office is most of the day's work between 8 and 20 o'clock, with its height
// at 10 and at 15.
func office(hour float64) float64 {
	return 0.1 + 2.153*(bell(hour, 10, 1.8)+bell(hour, 15, 2.2))
}

// morning is what is sent at 9 o'clock, which takes channels about two hours.
func morning(hour float64) float64 {
	if hour < 9 || hour >= 11 {
		return 0
	}
	return 12
}

func bell(hour, middle, width float64) float64 {
	distance := (hour - middle) / width
	return math.Exp(-distance * distance / 2)
}

// zone is a share of the companies whose midnight is so many hours after that
// of the first.
type zone struct {
	share float64
	hours float64
}

var zones = []zone{{0.01, 0}, {0.92, 1}, {0.06, 2}, {0.01, 3}}
