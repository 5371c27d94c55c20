// Package panel is what a company works in all day: pages over the same use
// cases as the API. It owns the table of routes, who may open which, and the
// contents of each page. It has no rule of the business: a handler reads a form,
// calls a use case and shows what it returns, with what kit has for all pages.
// docs/panel.md says how a page is made.
package panel

import (
	"embed"
	"io/fs"
	"slices"

	"carteira/internal/account"
	"carteira/internal/customer"
	"carteira/internal/reminder"
	"carteira/internal/reseller"
	"carteira/internal/web/page"
	"carteira/internal/web/panel/company"
	"carteira/internal/web/panel/kit"
	"carteira/internal/webhook"
)

// The roles and functions of the table, as the kit names them.
const (
	public, self, reader, viewer = kit.Public, kit.Self, kit.Reader, kit.Viewer
	desk, staff, owner           = kit.Desk, kit.Staff, kit.Owner

	basic, api, webhooks, imports = kit.Basic, kit.API, kit.Webhooks, kit.Imports
	exports, payments, resellers  = kit.Exports, kit.Payments, kit.Resellers
	reminders                     = kit.Reminders
)

// Deps are the capabilities behind the panel.
type Deps = kit.Deps

// pathRow is a path, with who may open it, what shows its page and what takes its
// form; nil: it has none.
type pathRow struct {
	Path      string
	Role      kit.Role
	Function  account.Function
	Get, Post kit.Handler
}

// Server is the panel with its pages.
type Server struct {
	*kit.Panel
	company company.Pages
}

//go:embed templates/*.html
var templates embed.FS

// New makes the panel of what is behind it.
func New(deps kit.Deps) *Server {
	files, err := fs.Sub(templates, "templates")
	if err != nil {
		panic(err) // embedded
	}
	panel := kit.New(deps, files)
	server := &Server{Panel: panel, company: company.Pages{Panel: panel}}
	server.AnswerTo(server.table())
	return server
}

// table is the whole panel.
func (s *Server) table() []kit.Route {
	rows := slices.Concat(s.planRecord().Routes(staff, basic), s.productRecord().Routes(staff, basic),
		s.subscriptionPlanRecord().Routes(owner, resellers))
	for _, row := range s.ownRoutes() {
		rows = append(rows, kit.PathRow(row))
	}
	for _, question := range s.questions() {
		rows = append(rows, question.Route())
	}
	return kit.RoutesOf(rows)
}

// ownRoutes are the paths but for those of records that are edited alike.
func (s *Server) ownRoutes() []pathRow {
	return []pathRow{
		{"/login", public, basic, s.company.LoginPage, s.company.Login},
		{"/login/code", public, basic, kit.Opened(s.company.CodeForm), s.company.Code},
		{"/setup/{link}", public, basic, kit.Opened(s.company.SetupForm), s.company.Setup},
		{"/password/{link}", public, basic, kit.Opened(s.company.PasswordForm), s.company.Password},
		{"/forgot", public, basic, s.company.ForgotPage, s.company.Forgot},
		{"/email/{link}", public, basic, s.company.AddressPage, s.company.UseAddressLink},
		{"/logout", self, basic, nil, s.company.Logout},

		{"/{$}", reader, basic, s.home, nil},
		{"/search", reader, basic, s.search, nil},

		{"/sandbox", reader, basic, kit.Opened(s.company.Clock), nil},
		{"/sandbox", owner, basic, nil, s.company.MoveClock},

		{"/views", self, basic, nil, s.SaveView},
		{"/views/{id}/delete", self, basic, nil, s.DeleteView},
		{"/columns", self, basic, nil, s.ChooseColumns},

		{"/customers", reader, basic, s.customers, nil},
		{"/customers/new", desk, basic, kit.Opened(s.customerForm), s.createCustomer},
		{"/customers/export", viewer, exports, kit.Long(s.exportCustomers), nil},
		{"/customers/bulk", staff, basic, nil, s.bulk("/customers", s.customerWork)},
		{"/invoices/bulk", staff, basic, nil, s.bulk("/invoices", s.invoiceWork)},
		{"/invoices/export", viewer, exports, s.exportInvoices(), nil},
		{"/undo", desk, basic, nil, s.undo},
		{"/recent", desk, basic, s.recent, nil},
		{"/queue", staff, payments, s.queue, s.queueNext},
		{"/imports", staff, imports, s.importPage, kit.Long(s.upload)},
		{"/imports/{id}", staff, imports, s.uploadPage, s.checkUpload},
		{"/imports/{id}/rejected", staff, imports, s.rejectedRows, nil},
		{"/imports/{id}/start", staff, imports, nil, s.startUpload},
		{"/customers/{id}", reader, basic, kit.Of(s.Customers.Find, s.customer), nil},
		{"/customers/{id}/edit", desk, basic, kit.Opened(s.customerForm), kit.Of(s.Customers.Find, s.updateCustomer)},
		{"/customers/{id}/cancel", desk, basic, kit.Opened(s.cancelForm), s.cancelCustomer},
		{"/customers/{id}/restore", desk, basic, nil, s.restoreCustomer},
		{"/customers/{id}/renew", desk, basic, nil, s.renewCustomer},
		{"/customers/{id}/invoice", desk, basic, kit.Opened(s.invoiceForm), s.createInvoice},
		{"/customers/{id}/page", desk, basic, nil, kit.Deed(kit.Quietly(s.Payments.ShareCustomerPage),
			"/customers/{id}#own-page", "The link is ready to be sent.")},
		{"/customers/{id}/autopay", desk, payments, nil, s.askAutopay},
		{"/customers/{id}/autopay/request", desk, payments, kit.Opened(s.requestAutopayForm), s.requestAutopay},
		{"/customers/{id}/autopay/simulate", desk, payments, nil, s.simulateAutopay},
		{"/customers/{id}/messages", desk, reminders, nil, s.setOptOut},

		{"/customers/{id}/charge", desk, payments, s.chargeCustomer, nil},
		{"/customers/{id}/slips", reader, basic, s.slips, nil},
		{"/customers/{id}/received", desk, basic, s.receivedFrom, nil},
		{"/customers/{id}/file", owner, basic, s.customerFile, nil},

		{"/invoices", reader, basic, s.invoices, nil},
		{"/invoices/{id}", reader, basic, kit.Opened(s.invoice), nil},
		{"/invoices/{id}/pay", desk, basic, kit.Of(s.Billing.Find, s.payPage), s.registerPayment},
		{"/invoices/{id}/receipt", reader, basic, kit.Of(s.Billing.Find, s.receipt), nil},
		{"/invoices/{id}/status", staff, basic, nil, s.setInvoiceStatus},
		{"/invoices/{id}/edit", staff, basic, kit.Opened(s.invoiceEdit), s.editInvoice},
		{"/invoices/{id}/reissue", staff, basic, nil, kit.Of(s.Billing.Find, s.reissueInvoice)},
		{"/invoices/{id}/again", staff, basic, kit.Opened(s.againForm), s.receiveAgain},
		{"/invoices/{id}/credit", staff, basic, nil, s.useCredit},
		{"/notices", reader, basic, s.notices, nil},
		{"/notices/{id}", reader, basic, s.noticeFile, nil},
		{"/notices/{id}/dismiss", desk, basic, nil, s.dismissNotices},
		{"/received/{id}/refund", staff, basic, kit.Opened(s.refundForm), s.refundPayment},
		{"/received/{id}/undo", staff, basic, nil, kit.Of(s.Billing.FindPayment, s.undoPayment)},
		{"/invoices/{id}/charge", desk, payments, kit.Of(s.Billing.Find, s.chargePage), nil},
		{"/invoices/{id}/pix", desk, payments, nil, s.makePix},

		{"/payments", viewer, payments, s.received, nil},
		{"/payments/export", viewer, exports, kit.Long(s.exportPayments), nil},
		{"/payments/month", viewer, basic, s.month, nil},
		{"/payments/month/rows", viewer, basic, s.monthRows, nil},
		{"/payments/month/export", viewer, exports, kit.Long(s.exportMonth), nil},
		{"/payments/month/close", owner, basic, nil, s.closeMonth},
		{"/payments/forecast", viewer, basic, s.forecast, nil},
		{"/payments/forecast/rows", viewer, basic, s.forecastRows, nil},
		{"/payments/statement", staff, payments, s.statementPage, kit.Long(s.readStatement)},
		{"/payments/statement/book", staff, payments, nil, s.bookStatement},
		{"/payments/autopay", reader, payments, s.autopays, nil},
		{"/payments/reviews", viewer, payments, s.reviews, nil},
		{"/payments/reviews/{id}", viewer, payments, kit.Opened(s.review), nil},
		{"/payments/reviews/{id}", staff, payments, nil, s.resolveReview},
		{"/payments/gateway", owner, payments, s.gatewayPage, nil},
		{"/payments/gateway/check", owner, payments, nil, s.checkGateway},
		{"/payments/gateway/webhook", owner, payments, nil, s.replaceWebhook},
		{"/payments/gateway/clear", owner, payments, s.askClearGateway, s.clearGateway},
		{"/payments/moved", owner, basic, nil, s.knowMove},
		{"/payments/gateways/{provider}", owner, payments, kit.Opened(s.gatewayForm), s.setGateway},

		{"/plans", reader, basic, s.plans, nil},
		{"/plans/{id}/follow", staff, basic, kit.Asked(s.Catalog.Plan, askFollowPlan), kit.Of(s.Catalog.Plan, s.followPlan)},
		{"/products", reader, basic, s.products, nil},

		{"/resellers", viewer, resellers, s.resellers, nil},
		{"/resellers/new", owner, resellers, kit.Opened(s.resellerForm), s.createReseller},
		{"/resellers/export", viewer, resellers, s.exportResellers(), nil},
		{"/resellers/{id}", viewer, resellers, s.reseller, nil},
		{"/resellers/{id}/edit", owner, resellers, kit.Opened(s.resellerForm), s.updateReseller},
		{"/resellers/{id}/level", owner, resellers, kit.Opened(s.levelForm), s.setLevel},
		{"/resellers/{id}/renew", owner, resellers, kit.Opened(s.renewal), s.renewReseller},
		{"/resellers/{id}/send", owner, resellers, s.movePage, s.move},
		{"/resellers/{id}/take-back", owner, resellers, s.movePage, s.move},
		{"/resellers/{id}/resume", owner, resellers, nil, s.resumeReseller},
		{"/resellers/{id}/invite", owner, resellers, nil, s.inviteReseller},
		{"/subscription-plans", viewer, resellers, s.subscriptionPlans, nil},
		{"/subscription-plans/{id}/active", owner, resellers, nil, s.switchSubscriptionPlan},
		// A company sees its credits whatever its level: they are its own.
		{"/credits", viewer, basic, s.credits, nil},
		{"/credits/export", viewer, exports, s.exportCredits(), nil},
		{"/credits/grant", owner, basic, kit.Opened(s.grantForm), s.grantCredits},
		{"/messages/rounds/{id}", reader, reminders, kit.Of(s.Reminders.FindRound, s.round), nil},
		{"/messages/usual", staff, reminders, nil, s.turnOnUsual},
		{"/messages", reader, reminders, s.rules, nil},
		{"/messages/rules/new", staff, reminders, kit.Opened(s.ruleForm), s.createRule},
		{"/messages/rules/{id}", staff, reminders, kit.Opened(s.ruleForm), s.updateRule},
		{"/messages/rules/{id}/active", staff, reminders, nil, s.switchRule},
		{"/messages/templates", reader, reminders, s.templates, nil},
		{"/messages/templates/new", staff, reminders, kit.Opened(s.templateForm), s.createTemplate},
		{"/messages/templates/preview", staff, reminders, nil, s.previewTemplate},
		{"/messages/templates/{id}", staff, reminders, kit.Opened(s.templateForm), s.updateTemplate},
		{"/messages/channels", owner, reminders, s.channels, nil},
		{"/messages/channels/new", owner, reminders, s.newChannel, s.createChannel},
		{"/messages/channels/{id}", owner, reminders, s.channel, nil},
		{"/messages/channels/{id}/edit", owner, reminders, kit.Opened(s.editChannel), s.updateChannel},
		{"/messages/channels/{id}/active", owner, reminders, nil, s.switchChannel},
		{"/messages/channels/{id}/test", owner, reminders, nil, s.testChannel},
		{"/messages/channels/{id}/phone", owner, reminders, s.phone, s.changePhone},
		{"/messages/quiet", owner, reminders, kit.Opened(s.quietForm), s.saveQuiet},
		{"/messages/log", reader, reminders, s.messageLog, nil},
		{"/messages/log/export", viewer, reminders, s.exportMessages(), nil},
		{"/messages/log/{id}", reader, reminders, s.message, nil},
		{"/messages/log/{id}/decide", staff, reminders, nil, s.decideMessage},

		{"/api", owner, api, kit.Opened(s.company.Tokens), nil},
		{"/api/tokens", owner, api, nil, s.company.CreateToken},
		{"/webhooks", owner, webhooks, s.company.WebhookList, nil},
		{"/webhooks/new", owner, webhooks, kit.Opened(s.company.WebhookForm), s.company.CreateWebhook},
		{"/webhooks/signature", owner, webhooks, kit.Opened(s.company.SignatureForm), s.company.CheckSignature},
		{"/webhooks/callback-secret", owner, webhooks, s.company.CallbackSecret, s.company.RotateCallbackSecret},
		{"/webhooks/{id}", owner, webhooks, s.company.Webhook, nil},
		{"/webhooks/{id}/export", owner, webhooks, kit.Of(s.Webhooks.Find, s.company.ExportDeliveries), nil},
		{"/webhooks/{id}/secret", owner, webhooks, nil, s.company.RotateWebhookSecret},
		{"/webhooks/{id}/edit", owner, webhooks, kit.Opened(s.company.WebhookForm), s.company.UpdateWebhook},
		{"/webhooks/{id}/active", owner, webhooks, nil, s.company.SwitchWebhook},
		{"/webhooks/{id}/test", owner, webhooks, nil, s.company.TestWebhook},
		{"/webhooks/{id}/replay", owner, webhooks, nil, s.company.ReplayWebhook},
		{"/deliveries/{id}", owner, webhooks, kit.Of(s.Webhooks.Delivery, s.company.Delivery), nil},
		{"/deliveries/{id}/resend", owner, webhooks, nil, s.company.ResendDelivery},

		{"/settings", owner, basic, kit.Opened(s.company.Settings), s.company.SaveSettings},
		{"/settings/steps", owner, basic, nil, s.hideStep},
		{"/settings/logo", owner, basic, nil, kit.Long(s.company.SaveLogo)},
		{"/settings/logo/remove", owner, basic, nil, s.company.RemoveLogo},
		{"/settings/address", owner, basic, s.publicAddress, nil},
		{"/settings/users", owner, basic, s.company.Users, nil},
		{"/settings/users/new", owner, basic, kit.Opened(s.company.UserForm), s.company.CreateUser},
		{"/settings/users/{id}", owner, basic, kit.Opened(s.company.UserForm), s.company.UpdateUser},
		{"/settings/users/{id}/link", owner, basic, nil, s.company.UserLink},
		{"/settings/users/{id}/second-factor", owner, basic, nil, kit.Deed(kit.Quietly(s.Accounts.RemoveSecondFactor),
			company.UsersPath, "The second factor is off.")},
		{"/settings/users/{id}/remove", owner, basic, kit.Of(s.Accounts.User, s.company.AskRemoveUser), s.company.RemoveUser},
		{"/settings/audit", owner, basic, s.audit, nil},
		{"/settings/audit/export", owner, exports, s.exportAudit, nil},
		{"/profile", self, basic, s.company.Profile, nil},
		{"/profile/password", self, basic, nil, s.company.ChangePassword},
		{"/profile/sessions/{id}/end", self, basic, nil, kit.Deed(s.Accounts.EndSession, "/profile", "The session was ended.")},
		{"/profile/second-factor", self, basic, kit.Opened(s.company.SecondFactor), s.company.ConfirmSecondFactor},
		{"/profile/second-factor/off", self, basic, nil, s.company.DropSecondFactor},
		{"/profile/proof", self, basic, nil, s.Prove},
		{"/profile/email", self, basic, nil, s.company.ChangeEmail},
		{"/profile/email/confirm", self, basic, nil, s.company.ConfirmAddress},
	}
}

// Patterns lists what the panel answers, as "GET /customers/{id}", for tests
// that have to meet all of it.
func (s *Server) Patterns() []string {
	var list []string
	for _, op := range s.table() {
		list = append(list, op.Pattern())
	}
	return list
}

const (
	templatesPath = "/messages/templates"
	channelsPath  = "/messages/channels"
)

// questions are what is asked before something is done that cannot be taken back.
func (s *Server) questions() []kit.Question {
	const record, resold = "/customers/{id}", "/subscription-plans/{id}"
	customers := kit.Named(s.Customers.Find, customerName)
	return []kit.Question{
		{
			Path: record + "/delete", Role: staff, Of: customers,
			Ask: page.Confirm{Question: "Delete %s?", Button: "Delete customer", Back: record, Effects: []string{
				"Its invoices are deleted too. The numbers of past months stay.", "Messages that are scheduled for it are not sent.",
				"Webhooks are told that the customer was deleted.", "This cannot be undone.",
			}},
			Do: s.Customers.Delete, To: "/customers", Said: "%s was deleted.",
		},
		{
			Path: record + "/page/withdraw", Role: desk, Of: customers,
			Ask: page.Confirm{Question: "Withdraw the link of %s?", Button: "Withdraw the link", Back: record, Effects: []string{
				"The link stops working at once, for everybody who has it.", "You can make another one whenever you like.",
			}},
			Do: s.Payments.WithdrawCustomerPage, To: record + "#own-page", Said: "The link was withdrawn.",
		},
		{
			Path: record + "/autopay/end", Role: desk, Function: payments, Of: customers,
			Ask: page.Confirm{Question: "End PIX Automático of %s?", Button: "End PIX Automático", Back: record, Effects: []string{
				"Debits that are announced are cancelled, as far as the bank can still stop them.",
				"The customer pays by code from then on, and can be asked again.",
			}},
			Do: kit.Quietly(s.Payments.EndAutopay), To: record + "#autopay", Said: "PIX Automático was ended.",
		},
		{
			Path: record + "/erase", Role: owner, Of: customers,
			Ask: page.Confirm{Question: "Erase everything about %s?", Button: "Erase", Back: record, Effects: []string{
				"The customer, invoices, messages, events and what the audit log says of them are gone for good.",
				"The money that came stays in the books without a name, as the law wants it.", "This cannot be undone.",
			}},
			Do: s.Privacy.Erase, To: "/customers", Said: "Everything about the customer was erased.",
		},
		{
			Path: "/messages/rules/{id}/delete", Role: staff, Function: reminders, Of: kit.Named(s.Reminders.FindRule, ruleName),
			Ask: page.Confirm{Question: "Delete the rule %s?", Button: "Delete rule", Back: "/messages", Effects: []string{
				"What it had scheduled is not sent.", "What it has sent stays in the log.", "This cannot be undone.",
			}},
			Do: s.Reminders.DeleteRule, To: "/messages", Said: "The rule was deleted.",
		},
		{
			Path: templatesPath + "/{id}/delete", Role: staff, Function: reminders, Of: kit.Named(s.Reminders.FindTemplate, templateName),
			Ask: page.Confirm{Question: "Delete the template %s?", Button: "Delete template", Back: templatesPath, Effects: []string{
				"A template that a rule sends cannot be deleted.", "This cannot be undone.",
			}},
			Do: s.Reminders.DeleteTemplate, To: templatesPath, Said: "The template was deleted.",
		},
		{
			Path: channelsPath + "/{id}/delete", Role: owner, Function: reminders, Of: kit.Named(s.Reminders.FindChannel, channelName),
			Ask: page.Confirm{Question: "Delete the channel %s?", Button: "Delete channel", Back: channelsPath + "/{id}", Effects: []string{
				"A channel that a rule uses cannot be deleted.", "Its credentials are deleted.",
				"What waits for it is not sent.", "This cannot be undone.",
			}},
			Do: s.Reminders.DeleteChannel, To: channelsPath, Said: "The channel was deleted.",
		},
		{
			Path: "/api/tokens/{id}/delete", Role: owner, Function: api, Of: kit.Named(s.Accounts.Token, tokenName),
			Ask: page.Confirm{Question: "Delete the token %s?", Button: "Delete token", Back: "/api", Effects: []string{
				"The very next call with it fails.", "This cannot be undone.",
			}},
			Do: s.Accounts.DeleteToken, To: "/api", Said: "The token was deleted.",
		},
		{
			Path: "/webhooks/{id}/delete", Role: owner, Function: webhooks, Of: kit.Named(s.Webhooks.Find, hookName),
			Ask: page.Confirm{Question: "Delete the webhook to %s?", Button: "Delete webhook", Back: "/webhooks/{id}", Effects: []string{
				"Its history goes with it, and so do deliveries that are pending.", "A new one gets another secret.", "This cannot be undone.",
			}},
			Do: s.Webhooks.Delete, To: "/webhooks", Said: "The webhook was deleted.",
		},
		{
			Path: "/resellers/{id}/suspend", Role: owner, Function: resellers, Of: kit.Named(s.Resellers.Find, sellerName),
			Ask: page.Confirm{Question: "Suspend %s?", Button: "Suspend reseller", Back: "/resellers/{id}", Effects: []string{
				"It can sign in and look, and change nothing. Its webhooks stop.",
				"Its days go on: the subscription ends when it would have.", "You can resume it at any time. A renewal resumes it too.",
			}},
			Do: kit.Quietly(s.Resellers.Suspend), To: "/resellers/{id}", Said: "%s is suspended.",
		},
		{
			Path: resold + "/link", Role: owner, Function: resellers, Of: kit.Named(s.Resellers.FindPlan, resoldPlanName),
			Ask: page.Confirm{Question: "Replace the signup link of %s?", Button: "Replace the link", Back: resold, Effects: []string{
				"The link that you have given out stops working at once, wherever it stands.",
				"Whoever has signed up with it keeps everything.", "This cannot be undone.",
			}},
			Do: kit.Quietly(s.Resellers.RenewSignupLink), To: resold, Said: "%s has a new signup link.",
		},
	}
}

// The names by which people know records.
func customerName(record customer.Customer) (int64, string)   { return record.ID, record.Name }
func ruleName(rule reminder.Rule) (int64, string)             { return rule.ID, rule.Name }
func templateName(template reminder.Template) (int64, string) { return template.ID, template.Name }
func channelName(channel reminder.Channel) (int64, string)    { return channel.ID, channel.Name }
func tokenName(token account.Token) (int64, string)           { return token.ID, token.Name }
func hookName(hook webhook.Webhook) (int64, string)           { return hook.ID, hook.URL }
func sellerName(seller reseller.Reseller) (int64, string)     { return seller.ID, seller.Name }
func resoldPlanName(plan reseller.Plan) (int64, string)       { return plan.ID, plan.Name }
