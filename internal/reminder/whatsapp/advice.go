package whatsapp

import (
	"fmt"
	"slices"
	"time"

	"carteira/internal/reminder"
)

// advice says what an error of Meta's means and what to do about it. The panel
// has the same words in Portuguese. Codes that are not here keep Meta's own words.
var advice = map[int]string{
	190:    "the access token has expired: make one that does not expire and save it in the channel",
	368:    "Meta has blocked the account for breaking its policies: see the account's quality in WhatsApp Manager",
	130472: "Meta left this customer out of marketing messages: have the template approved as utility, or use another channel",
	130497: "the account may not write to customers of this country: see the business policy at Meta",
	131005: "the token lacks a permission: give the system user whatsapp_business_messaging",
	131021: "the number is the sender's own: correct the customer's WhatsApp number",
	131026: "the number cannot get the message: it is not on WhatsApp, or its app is too old, so check it with the customer",
	131030: "the number is not in the list of the test account: add it at Meta, or send from a real number",
	131031: "Meta has locked the account: open WhatsApp Manager and follow what it asks for",
	131037: "the sending number has no approved display name: ask for one in WhatsApp Manager",
	131042: "Meta cannot charge the account: correct the payment method in the billing settings of WhatsApp Manager",
	131045: "the sending number is not registered: register it at Meta",
	131047: "more than 24 hours have passed since the customer wrote: only an approved template may be sent",
	131048: "too many of your messages were blocked or marked as spam: see the number's quality in WhatsApp Manager and send less",
	131049: "Meta held the message back so as not to tire the customer: try another day, or use another channel",
	131050: "the customer has stopped marketing messages of yours on WhatsApp: use another channel",
	131051: "Meta does not know this type of message: check the template",
	131056: "too many messages to the same number in a short time",
	132000: "the template has another number of gaps at Meta: correct what fills the gaps",
	132001: "the template does not exist at Meta in this language, or is not approved yet: check its name and language",
	132005: "the text is too long once the gaps are filled: shorten the template",
	132007: "the template breaks a policy of Meta's: edit it there and have it approved again",
	132012: "what fills the gaps has not the form that the template wants: check it at Meta",
	132015: "Meta has paused the template for its low quality: edit it, or choose another one",
	132016: "Meta has disabled the template for good: choose another one",
	133010: "the sending number is not registered: register it at Meta",
}

// passing are the codes of errors that go away by themselves: limits, and Meta
// being down.
var passing = []int{1, 2, 4, 80007, 130429, 131000, 131016, 131048, 131056, 131057, 133004}

// problem is what an error means for the message.
func (i issue) problem(after time.Duration) error {
	reason := i.reason()
	if slices.Contains(passing, i.Code) {
		return &reminder.Passing{Reason: reason, After: after}
	}
	return &reminder.Refusal{Reason: reason}
}

// reason is the advice, or Meta's own words, with the code to look up.
func (i issue) reason() string {
	text := advice[i.Code]
	for _, words := range []string{i.Data.Details, i.Message, i.Title, "Meta reported an error"} {
		if text == "" {
			text = words
		}
	}
	return fmt.Sprintf("%s (Meta %d)", text, i.Code)
}

// Reasons lists what the channel says of failures in words of its own, for those
// who say it in another language.
func Reasons() []string {
	var list []string
	for code := range advice {
		list = append(list, issue{Code: code}.reason())
	}
	return list
}
