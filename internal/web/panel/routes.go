package panel

import (
	"net/http"
	"slices"

	"carteira/internal/account"
)

// role is who may open a page.
type role string

const (
	public role = ""       // without a session
	self   role = "self"   // any signed-in user, about themselves
	reader role = "reader" // everybody who is signed in
	viewer role = "viewer" // who may see totals and take lists along: all but attendants
	desk   role = "desk"   // who works with customers: attendants too
	staff  role = "staff"  // who may change everything that is not an owner's
	owner  role = "owner"
)

// allows is what the roles of users may open. Who only reads is refused every
// change here and nowhere else: no route that changes something says reader or
// viewer.
func allows(has account.Role, needs role) bool {
	switch needs {
	case public, self, reader:
		return true
	case viewer:
		return has != account.RoleAttendant
	case desk:
		return has == account.RoleAttendant || allows(has, staff)
	case staff:
		return has == account.RoleStaff || has == account.RoleOwner
	case owner:
		return has == account.RoleOwner
	}
	return false
}

// The functions that a company's plan can lack.
const (
	basic     = account.Function("")
	api       = account.FunctionAPI
	webhooks  = account.FunctionWebhooks
	imports   = account.FunctionImport
	exports   = account.FunctionExport
	payments  = account.FunctionPayments
	resellers = account.FunctionResellers
	reminders = account.FunctionReminders
)

// route is one page, or one form that is sent.
type route struct {
	method, path string
	role         role
	function     account.Function // that the company's plan must have; basic: none
	handler      handler
}

func (op route) pattern() string { return op.method + " " + op.path }

// table is the whole panel.
func (s *Server) table() []route {
	return slices.Concat(s.ownRoutes(), s.planRecord().routes(s, staff, basic), s.productRecord().routes(s, staff, basic),
		s.subscriptionPlanRecord().routes(s, owner, resellers), s.moves(s.sending()), s.moves(s.takingBack()))
}

// ownRoutes are the routes but for those of records that are edited alike.
func (s *Server) ownRoutes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{get, "/login", public, basic, s.loginPage},
		{post, "/login", public, basic, s.login},
		{get, "/login/code", public, basic, opened(s.codeForm)},
		{post, "/login/code", public, basic, s.code},
		{get, "/setup/{link}", public, basic, opened(s.setupForm)},
		{post, "/setup/{link}", public, basic, s.setup},
		{get, "/password/{link}", public, basic, opened(s.passwordForm)},
		{post, "/password/{link}", public, basic, s.password},
		{get, "/forgot", public, basic, s.forgotPage},
		{post, "/forgot", public, basic, s.forgot},
		{get, "/email/{link}", public, basic, s.addressPage},
		{post, "/email/{link}", public, basic, s.useAddressLink},
		{post, "/logout", self, basic, s.logout},

		{get, "/{$}", reader, basic, s.home},
		{get, "/search", reader, basic, s.search},

		{get, "/sandbox", reader, basic, opened(s.clock)},
		{post, "/sandbox", owner, basic, s.moveClock},

		{post, "/views", self, basic, s.saveView},
		{post, "/views/{id}/delete", self, basic, s.deleteView},
		{post, "/columns", self, basic, s.chooseColumns},

		{get, "/customers", reader, basic, s.customers},
		{get, "/customers/new", desk, basic, opened(s.customerForm)},
		{post, "/customers/new", desk, basic, s.createCustomer},
		{get, "/customers/export", viewer, exports, long(s.exportCustomers)},
		{post, "/customers/bulk", staff, basic, s.bulk},
		{post, "/invoices/bulk", staff, basic, s.invoiceBulk},
		{get, "/invoices/export", viewer, exports, s.exportInvoices()},
		{post, "/undo", desk, basic, s.undo},
		{get, "/recent", desk, basic, s.recent},
		{get, "/queue", staff, payments, s.queue},
		{post, "/queue", staff, payments, s.queueNext},
		{get, "/imports", staff, imports, s.importPage},
		{post, "/imports", staff, imports, long(s.upload)},
		{get, "/imports/{id}", staff, imports, s.uploadPage},
		{get, "/imports/{id}/rejected", staff, imports, s.rejectedRows},
		{post, "/imports/{id}", staff, imports, s.checkUpload},
		{post, "/imports/{id}/start", staff, imports, s.startUpload},
		{get, "/customers/{id}", reader, basic, of(s.Customers.Find, s.customer)},
		{get, "/customers/{id}/edit", desk, basic, opened(s.customerForm)},
		{post, "/customers/{id}/edit", desk, basic, of(s.Customers.Find, s.updateCustomer)},
		{get, "/customers/{id}/delete", staff, basic, asked(s, s.Customers.Find, askDeleteCustomer)},
		{post, "/customers/{id}/delete", staff, basic, of(s.Customers.Find, s.deleteCustomer)},
		{get, "/customers/{id}/cancel", desk, basic, opened(s.cancelForm)},
		{post, "/customers/{id}/cancel", desk, basic, s.cancelCustomer},
		{post, "/customers/{id}/restore", desk, basic, s.restoreCustomer},
		{post, "/customers/{id}/renew", desk, basic, s.renewCustomer},
		{get, "/customers/{id}/invoice", desk, basic, opened(s.invoiceForm)},
		{post, "/customers/{id}/invoice", desk, basic, s.createInvoice},
		{post, "/customers/{id}/page", desk, basic, s.sharePage},
		{get, "/customers/{id}/page/withdraw", desk, basic, asked(s, s.Customers.Find, askWithdrawPage)},
		{post, "/customers/{id}/page/withdraw", desk, basic, s.withdrawPage},
		{post, "/customers/{id}/autopay", desk, payments, s.askAutopay},
		{get, "/customers/{id}/autopay/request", desk, payments, opened(s.requestAutopayForm)},
		{post, "/customers/{id}/autopay/request", desk, payments, s.requestAutopay},
		{get, "/customers/{id}/autopay/end", desk, payments, asked(s, s.Customers.Find, askEndAutopay)},
		{post, "/customers/{id}/autopay/end", desk, payments, s.endAutopay},
		{post, "/customers/{id}/autopay/simulate", desk, payments, s.simulateAutopay},
		{post, "/customers/{id}/messages", desk, reminders, s.setOptOut},

		{get, "/customers/{id}/charge", desk, payments, s.chargeCustomer},
		{get, "/customers/{id}/slips", reader, basic, s.slips},
		{get, "/customers/{id}/received", desk, basic, s.receivedFrom},
		{get, "/customers/{id}/file", owner, basic, s.customerFile},
		{get, "/customers/{id}/erase", owner, basic, asked(s, s.Customers.Find, askEraseCustomer)},
		{post, "/customers/{id}/erase", owner, basic, s.eraseCustomer},

		{get, "/invoices", reader, basic, s.invoices},
		{get, "/invoices/{id}", reader, basic, opened(s.invoice)},
		{get, "/invoices/{id}/pay", desk, basic, of(s.Billing.Find, s.payPage)},
		{post, "/invoices/{id}/pay", desk, basic, s.registerPayment},
		{get, "/invoices/{id}/receipt", reader, basic, of(s.Billing.Find, s.receipt)},
		{post, "/invoices/{id}/status", staff, basic, s.setInvoiceStatus},
		{get, "/invoices/{id}/edit", staff, basic, opened(s.invoiceEdit)},
		{post, "/invoices/{id}/edit", staff, basic, s.editInvoice},
		{post, "/invoices/{id}/reissue", staff, basic, of(s.Billing.Find, s.reissueInvoice)},
		{get, "/invoices/{id}/again", staff, basic, opened(s.againForm)},
		{post, "/invoices/{id}/again", staff, basic, s.receiveAgain},
		{post, "/invoices/{id}/credit", staff, basic, s.useCredit},
		{get, "/notices", reader, basic, s.notices},
		{get, "/notices/{id}", reader, basic, s.noticeFile},
		{post, "/notices/{id}/dismiss", desk, basic, s.dismissNotices},
		{get, "/received/{id}/refund", staff, basic, opened(s.refundForm)},
		{post, "/received/{id}/refund", staff, basic, s.refundPayment},
		{post, "/received/{id}/undo", staff, basic, of(s.Billing.FindPayment, s.undoPayment)},
		{get, "/invoices/{id}/charge", desk, payments, of(s.Billing.Find, s.chargePage)},
		{post, "/invoices/{id}/pix", desk, payments, s.makePix},

		{get, "/payments", viewer, payments, s.received},
		{get, "/payments/export", viewer, exports, long(s.exportPayments)},
		{get, "/payments/month", viewer, basic, s.month},
		{get, "/payments/month/rows", viewer, basic, s.monthRows},
		{get, "/payments/month/export", viewer, exports, long(s.exportMonth)},
		{post, "/payments/month/close", owner, basic, s.closeMonth},
		{get, "/payments/forecast", viewer, basic, s.forecast},
		{get, "/payments/forecast/rows", viewer, basic, s.forecastRows},
		{get, "/payments/statement", staff, payments, s.statementPage},
		{post, "/payments/statement", staff, payments, long(s.readStatement)},
		{post, "/payments/statement/book", staff, payments, s.bookStatement},
		{get, "/payments/autopay", reader, payments, s.autopays},
		{get, "/payments/reviews", viewer, payments, s.reviews},
		{get, "/payments/reviews/{id}", viewer, payments, opened(s.review)},
		{post, "/payments/reviews/{id}", staff, payments, s.resolveReview},
		{get, "/payments/gateway", owner, payments, s.gatewayPage},
		{post, "/payments/gateway/check", owner, payments, s.checkGateway},
		{post, "/payments/gateway/webhook", owner, payments, s.replaceWebhook},
		{get, "/payments/gateway/clear", owner, payments, s.askClearGateway},
		{post, "/payments/gateway/clear", owner, payments, s.clearGateway},
		{post, "/payments/moved", owner, basic, s.knowMove},
		{get, "/payments/gateways/{provider}", owner, payments, opened(s.gatewayForm)},
		{post, "/payments/gateways/{provider}", owner, payments, s.setGateway},

		{get, "/plans", reader, basic, s.plans},
		{get, "/plans/{id}/follow", staff, basic, asked(s, s.Catalog.Plan, askFollowPlan)},
		{post, "/plans/{id}/follow", staff, basic, of(s.Catalog.Plan, s.followPlan)},
		{get, "/products", reader, basic, s.products},

		{get, "/resellers", viewer, resellers, s.resellers},
		{get, "/resellers/new", owner, resellers, opened(s.resellerForm)},
		{post, "/resellers/new", owner, resellers, s.createReseller},
		{get, "/resellers/export", viewer, resellers, s.exportResellers()},
		{get, "/resellers/{id}", viewer, resellers, s.reseller},
		{get, "/resellers/{id}/edit", owner, resellers, opened(s.resellerForm)},
		{post, "/resellers/{id}/edit", owner, resellers, s.updateReseller},
		{get, "/resellers/{id}/level", owner, resellers, opened(s.levelForm)},
		{post, "/resellers/{id}/level", owner, resellers, s.setLevel},
		{get, "/resellers/{id}/renew", owner, resellers, opened(s.renewal)},
		{post, "/resellers/{id}/renew", owner, resellers, s.renewReseller},
		{get, "/resellers/{id}/suspend", owner, resellers, asked(s, s.Resellers.Find, askSuspendReseller)},
		{post, "/resellers/{id}/suspend", owner, resellers, s.suspendReseller},
		{post, "/resellers/{id}/resume", owner, resellers, s.resumeReseller},
		{post, "/resellers/{id}/invite", owner, resellers, s.inviteReseller},
		{get, "/subscription-plans", viewer, resellers, s.subscriptionPlans},
		{post, "/subscription-plans/{id}/active", owner, resellers, s.switchSubscriptionPlan},
		{get, "/subscription-plans/{id}/link", owner, resellers, asked(s, s.Resellers.FindPlan, askRenewSignupLink)},
		{post, "/subscription-plans/{id}/link", owner, resellers, s.renewSignupLink},
		// A company sees its credits whatever its level: they are its own.
		{get, "/credits", viewer, basic, s.credits},
		{get, "/credits/export", viewer, exports, s.exportCredits()},
		{get, "/credits/grant", owner, basic, opened(s.grantForm)},
		{post, "/credits/grant", owner, basic, s.grantCredits},
		{get, "/messages/rounds/{id}", reader, reminders, of(s.Reminders.FindRound, s.round)},
		{post, "/messages/usual", staff, reminders, s.turnOnUsual},
		{get, "/messages", reader, reminders, s.rules},
		{get, "/messages/rules/new", staff, reminders, opened(s.ruleForm)},
		{post, "/messages/rules/new", staff, reminders, s.createRule},
		{get, "/messages/rules/{id}", staff, reminders, opened(s.ruleForm)},
		{post, "/messages/rules/{id}", staff, reminders, s.updateRule},
		{post, "/messages/rules/{id}/active", staff, reminders, s.switchRule},
		{get, "/messages/rules/{id}/delete", staff, reminders, asked(s, s.Reminders.FindRule, askDeleteRule)},
		{post, "/messages/rules/{id}/delete", staff, reminders, s.deleteRule},
		{get, "/messages/templates", reader, reminders, s.templates},
		{get, "/messages/templates/new", staff, reminders, opened(s.templateForm)},
		{post, "/messages/templates/new", staff, reminders, s.createTemplate},
		{post, "/messages/templates/preview", staff, reminders, s.previewTemplate},
		{get, "/messages/templates/{id}", staff, reminders, opened(s.templateForm)},
		{post, "/messages/templates/{id}", staff, reminders, s.updateTemplate},
		{get, "/messages/templates/{id}/delete", staff, reminders, asked(s, s.Reminders.FindTemplate, askDeleteTemplate)},
		{post, "/messages/templates/{id}/delete", staff, reminders, s.deleteTemplate},
		{get, "/messages/channels", owner, reminders, s.channels},
		{get, "/messages/channels/new", owner, reminders, s.newChannel},
		{post, "/messages/channels/new", owner, reminders, s.createChannel},
		{get, "/messages/channels/{id}", owner, reminders, s.channel},
		{get, "/messages/channels/{id}/edit", owner, reminders, opened(s.editChannel)},
		{post, "/messages/channels/{id}/edit", owner, reminders, s.updateChannel},
		{post, "/messages/channels/{id}/active", owner, reminders, s.switchChannel},
		{post, "/messages/channels/{id}/test", owner, reminders, s.testChannel},
		{get, "/messages/channels/{id}/phone", owner, reminders, s.phone},
		{post, "/messages/channels/{id}/phone", owner, reminders, s.changePhone},
		{get, "/messages/channels/{id}/delete", owner, reminders, asked(s, s.Reminders.FindChannel, askDeleteChannel)},
		{post, "/messages/channels/{id}/delete", owner, reminders, s.deleteChannel},
		{get, "/messages/quiet", owner, reminders, opened(s.quietForm)},
		{post, "/messages/quiet", owner, reminders, s.saveQuiet},
		{get, "/messages/log", reader, reminders, s.messageLog},
		{get, "/messages/log/export", viewer, reminders, s.exportMessages()},
		{get, "/messages/log/{id}", reader, reminders, s.message},
		{post, "/messages/log/{id}/decide", staff, reminders, s.decideMessage},

		{get, "/api", owner, api, opened(s.tokens)},
		{post, "/api/tokens", owner, api, s.createToken},
		{get, "/api/tokens/{id}/delete", owner, api, asked(s, s.Accounts.Token, askDeleteToken)},
		{post, "/api/tokens/{id}/delete", owner, api, s.deleteToken},
		{get, "/webhooks", owner, webhooks, s.webhooks},
		{get, "/webhooks/new", owner, webhooks, opened(s.webhookForm)},
		{post, "/webhooks/new", owner, webhooks, s.createWebhook},
		{get, "/webhooks/signature", owner, webhooks, opened(s.signatureForm)},
		{post, "/webhooks/signature", owner, webhooks, s.checkSignature},
		{get, "/webhooks/callback-secret", owner, webhooks, s.callbackSecret},
		{post, "/webhooks/callback-secret", owner, webhooks, s.rotateCallbackSecret},
		{get, "/webhooks/{id}", owner, webhooks, s.webhook},
		{get, "/webhooks/{id}/export", owner, webhooks, of(s.Webhooks.Find, s.exportDeliveries)},
		{post, "/webhooks/{id}/secret", owner, webhooks, s.rotateWebhookSecret},
		{get, "/webhooks/{id}/edit", owner, webhooks, opened(s.webhookForm)},
		{post, "/webhooks/{id}/edit", owner, webhooks, s.updateWebhook},
		{post, "/webhooks/{id}/active", owner, webhooks, s.switchWebhook},
		{post, "/webhooks/{id}/test", owner, webhooks, s.testWebhook},
		{post, "/webhooks/{id}/replay", owner, webhooks, s.replayWebhook},
		{get, "/webhooks/{id}/delete", owner, webhooks, asked(s, s.Webhooks.Find, askDeleteWebhook)},
		{post, "/webhooks/{id}/delete", owner, webhooks, s.deleteWebhook},
		{get, "/deliveries/{id}", owner, webhooks, of(s.Webhooks.Delivery, s.delivery)},
		{post, "/deliveries/{id}/resend", owner, webhooks, s.resendDelivery},

		{get, "/settings", owner, basic, opened(s.settings)},
		{post, "/settings", owner, basic, s.saveSettings},
		{post, "/settings/steps", owner, basic, s.hideStep},
		{post, "/settings/logo", owner, basic, long(s.saveLogo)},
		{post, "/settings/logo/remove", owner, basic, s.removeLogo},
		{get, "/settings/address", owner, basic, s.publicAddress},
		{get, "/settings/users", owner, basic, s.users},
		{get, "/settings/users/new", owner, basic, opened(s.userForm)},
		{post, "/settings/users/new", owner, basic, s.createUser},
		{get, "/settings/users/{id}", owner, basic, opened(s.userForm)},
		{post, "/settings/users/{id}", owner, basic, s.updateUser},
		{post, "/settings/users/{id}/link", owner, basic, s.userLink},
		{post, "/settings/users/{id}/second-factor", owner, basic, s.removeSecondFactor},
		{get, "/settings/users/{id}/remove", owner, basic, of(s.Accounts.User, s.askRemoveUser)},
		{post, "/settings/users/{id}/remove", owner, basic, s.removeUser},
		{get, "/settings/audit", owner, basic, s.audit},
		{get, "/settings/audit/export", owner, exports, s.exportAudit},
		{get, "/profile", self, basic, s.profile},
		{post, "/profile/password", self, basic, s.changePassword},
		{post, "/profile/sessions/{id}/end", self, basic, s.endSession},
		{get, "/profile/second-factor", self, basic, opened(s.secondFactor)},
		{post, "/profile/second-factor", self, basic, s.confirmSecondFactor},
		{post, "/profile/second-factor/off", self, basic, s.dropSecondFactor},
		{post, "/profile/proof", self, basic, s.prove},
		{post, "/profile/email", self, basic, s.changeEmail},
		{post, "/profile/email/confirm", self, basic, s.confirmAddress},
	}
}

// Patterns lists what the panel answers, as "GET /customers/{id}", for tests
// that have to meet all of it.
func (s *Server) Patterns() []string {
	var list []string
	for _, op := range s.table() {
		list = append(list, op.pattern())
	}
	return list
}
