package panel

import (
	"net/http"

	"carteira/internal/account"
)

// role is who may open a page.
type role string

const (
	public role = ""       // nobody is signed in
	self   role = "self"   // whoever is signed in, about themselves
	reader role = "reader" // everybody who is signed in
	staff  role = "staff"  // who may change things
	owner  role = "owner"
)

// allows is what the roles of users may open. Who only reads is refused every
// change here and nowhere else: no route that changes something says reader.
func allows(has account.Role, needs role) bool {
	switch needs {
	case public, self, reader:
		return true
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
	method   string
	path     string
	role     role
	function account.Function // that the company's plan must have; basic: none
	handler  handler
	long     bool // it reads or writes as long as it takes, and reads its body itself
}

func (op route) pattern() string { return op.method + " " + op.path }

// table is the whole panel.
func (s *Server) table() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{get, "/login", public, basic, s.loginPage, false},
		{post, "/login", public, basic, s.login, false},
		{get, "/login/code", public, basic, s.codePage, false},
		{post, "/login/code", public, basic, s.code, false},
		{get, "/setup/{link}", public, basic, s.setupPage, false},
		{post, "/setup/{link}", public, basic, s.setup, false},
		{get, "/password/{link}", public, basic, s.passwordPage, false},
		{post, "/password/{link}", public, basic, s.password, false},
		{post, "/logout", self, basic, s.logout, false},

		{get, "/{$}", reader, basic, s.home, false},

		{get, "/customers", reader, basic, s.customers, false},
		{get, "/customers/new", staff, basic, s.newCustomer, false},
		{post, "/customers/new", staff, basic, s.createCustomer, false},
		{get, "/customers/export", reader, exports, s.exportCustomers, true},
		{post, "/customers/bulk", staff, basic, s.bulk, false},
		{get, "/imports", staff, imports, s.importPage, false},
		{post, "/imports", staff, imports, s.upload, true},
		{get, "/imports/{id}", staff, imports, s.uploadPage, false},
		{post, "/imports/{id}", staff, imports, s.checkUpload, false},
		{post, "/imports/{id}/start", staff, imports, s.startUpload, false},
		{get, "/customers/{id}", reader, basic, s.customer, false},
		{get, "/customers/{id}/edit", staff, basic, s.editCustomer, false},
		{post, "/customers/{id}/edit", staff, basic, s.updateCustomer, false},
		{get, "/customers/{id}/delete", staff, basic, s.askDeleteCustomer, false},
		{post, "/customers/{id}/delete", staff, basic, s.deleteCustomer, false},
		{post, "/customers/{id}/renew", staff, basic, s.renewCustomer, false},
		{get, "/customers/{id}/invoice", staff, basic, s.newInvoice, false},
		{post, "/customers/{id}/invoice", staff, basic, s.createInvoice, false},
		{post, "/customers/{id}/messages", staff, reminders, s.setOptOut, false},

		{get, "/customers/{id}/charge", staff, payments, s.chargeCustomer, false},

		{get, "/invoices", reader, basic, s.invoices, false},
		{get, "/invoices/{id}", reader, basic, s.invoice, false},
		{post, "/invoices/{id}/status", staff, basic, s.setInvoiceStatus, false},
		{get, "/invoices/{id}/charge", staff, payments, s.chargeInvoice, false},
		{post, "/invoices/{id}/pix", staff, payments, s.makePix, false},
		{post, "/invoices/{id}/confirm", staff, payments, s.confirmByHand, false},

		{get, "/payments", reader, payments, s.received, false},
		{get, "/payments/reviews", reader, payments, s.reviews, false},
		{get, "/payments/reviews/{id}", reader, payments, s.review, false},
		{post, "/payments/reviews/{id}", staff, payments, s.resolveReview, false},
		{get, "/payments/gateway", owner, payments, s.gatewayPage, false},
		{post, "/payments/gateway/check", owner, payments, s.checkGateway, false},
		{get, "/payments/gateway/clear", owner, payments, s.askClearGateway, false},
		{post, "/payments/gateway/clear", owner, payments, s.clearGateway, false},
		{get, "/payments/gateways/{provider}", owner, payments, s.gatewayFormPage, false},
		{post, "/payments/gateways/{provider}", owner, payments, s.setGateway, false},

		{get, "/plans", reader, basic, s.plans, false},
		{get, "/plans/new", staff, basic, s.newPlan, false},
		{post, "/plans/new", staff, basic, s.createPlan, false},
		{get, "/plans/{id}", staff, basic, s.editPlan, false},
		{post, "/plans/{id}", staff, basic, s.updatePlan, false},
		{get, "/products", reader, basic, s.products, false},
		{get, "/products/new", staff, basic, s.newProduct, false},
		{post, "/products/new", staff, basic, s.createProduct, false},
		{get, "/products/{id}", staff, basic, s.editProduct, false},
		{post, "/products/{id}", staff, basic, s.updateProduct, false},

		{get, "/resellers", reader, resellers, s.resellers, false},
		{get, "/resellers/new", owner, resellers, s.newReseller, false},
		{post, "/resellers/new", owner, resellers, s.createReseller, false},
		{get, "/resellers/{id}", reader, resellers, s.reseller, false},
		{get, "/resellers/{id}/edit", owner, resellers, s.editReseller, false},
		{post, "/resellers/{id}/edit", owner, resellers, s.updateReseller, false},
		{get, "/resellers/{id}/level", owner, resellers, s.levelPage, false},
		{post, "/resellers/{id}/level", owner, resellers, s.setLevel, false},
		{get, "/resellers/{id}/renew", owner, resellers, s.renewalPage, false},
		{post, "/resellers/{id}/renew", owner, resellers, s.renewReseller, false},
		{get, "/resellers/{id}/suspend", owner, resellers, s.askSuspendReseller, false},
		{post, "/resellers/{id}/suspend", owner, resellers, s.suspendReseller, false},
		{post, "/resellers/{id}/resume", owner, resellers, s.resumeReseller, false},
		{post, "/resellers/{id}/invite", owner, resellers, s.inviteReseller, false},
		{get, "/resellers/{id}/send", owner, resellers, s.sendPage, false},
		{post, "/resellers/{id}/send", owner, resellers, s.sendCredits, false},
		{get, "/resellers/{id}/take-back", owner, resellers, s.takeBackPage, false},
		{post, "/resellers/{id}/take-back", owner, resellers, s.takeBackCredits, false},
		{get, "/subscription-plans", reader, resellers, s.subscriptionPlans, false},
		{get, "/subscription-plans/new", owner, resellers, s.newSubscriptionPlan, false},
		{post, "/subscription-plans/new", owner, resellers, s.createSubscriptionPlan, false},
		{get, "/subscription-plans/{id}", owner, resellers, s.editSubscriptionPlan, false},
		{post, "/subscription-plans/{id}", owner, resellers, s.updateSubscriptionPlan, false},
		{post, "/subscription-plans/{id}/active", owner, resellers, s.switchSubscriptionPlan, false},
		{get, "/subscription-plans/{id}/link", owner, resellers, s.askRenewSignupLink, false},
		{post, "/subscription-plans/{id}/link", owner, resellers, s.renewSignupLink, false},
		// A company sees its credits whatever its level: they are its own.
		{get, "/credits", reader, basic, s.credits, false},
		{get, "/messages", reader, reminders, s.rules, false},
		{get, "/messages/rules/new", staff, reminders, s.newRule, false},
		{post, "/messages/rules/new", staff, reminders, s.createRule, false},
		{get, "/messages/rules/{id}", staff, reminders, s.editRule, false},
		{post, "/messages/rules/{id}", staff, reminders, s.updateRule, false},
		{post, "/messages/rules/{id}/active", staff, reminders, s.switchRule, false},
		{get, "/messages/rules/{id}/delete", staff, reminders, s.askDeleteRule, false},
		{post, "/messages/rules/{id}/delete", staff, reminders, s.deleteRule, false},
		{get, "/messages/templates", reader, reminders, s.templates, false},
		{get, "/messages/templates/new", staff, reminders, s.newTemplate, false},
		{post, "/messages/templates/new", staff, reminders, s.createTemplate, false},
		{post, "/messages/templates/preview", staff, reminders, s.previewTemplate, false},
		{get, "/messages/templates/{id}", staff, reminders, s.editTemplate, false},
		{post, "/messages/templates/{id}", staff, reminders, s.updateTemplate, false},
		{get, "/messages/templates/{id}/delete", staff, reminders, s.askDeleteTemplate, false},
		{post, "/messages/templates/{id}/delete", staff, reminders, s.deleteTemplate, false},
		{get, "/messages/channels", owner, reminders, s.channels, false},
		{get, "/messages/channels/new", owner, reminders, s.newChannel, false},
		{post, "/messages/channels/new", owner, reminders, s.createChannel, false},
		{get, "/messages/channels/{id}", owner, reminders, s.channel, false},
		{get, "/messages/channels/{id}/edit", owner, reminders, s.editChannel, false},
		{post, "/messages/channels/{id}/edit", owner, reminders, s.updateChannel, false},
		{post, "/messages/channels/{id}/active", owner, reminders, s.switchChannel, false},
		{post, "/messages/channels/{id}/test", owner, reminders, s.testChannel, false},
		{get, "/messages/channels/{id}/delete", owner, reminders, s.askDeleteChannel, false},
		{post, "/messages/channels/{id}/delete", owner, reminders, s.deleteChannel, false},
		{get, "/messages/quiet", owner, reminders, s.quiet, false},
		{post, "/messages/quiet", owner, reminders, s.saveQuiet, false},
		{get, "/messages/log", reader, reminders, s.messageLog, false},
		{get, "/messages/log/{id}", reader, reminders, s.message, false},
		{post, "/messages/log/{id}/decide", staff, reminders, s.decideMessage, false},

		{get, "/api", owner, api, s.tokens, false},
		{post, "/api/tokens", owner, api, s.createToken, false},
		{get, "/api/tokens/{id}/delete", owner, api, s.askDeleteToken, false},
		{post, "/api/tokens/{id}/delete", owner, api, s.deleteToken, false},
		{get, "/webhooks", owner, webhooks, s.webhooks, false},
		{get, "/webhooks/new", owner, webhooks, s.newWebhook, false},
		{post, "/webhooks/new", owner, webhooks, s.createWebhook, false},
		{get, "/webhooks/signature", owner, webhooks, s.signaturePage, false},
		{post, "/webhooks/signature", owner, webhooks, s.checkSignature, false},
		{get, "/webhooks/callback-secret", owner, webhooks, s.callbackSecret, false},
		{post, "/webhooks/callback-secret", owner, webhooks, s.rotateCallbackSecret, false},
		{get, "/webhooks/{id}", owner, webhooks, s.webhook, false},
		{get, "/webhooks/{id}/edit", owner, webhooks, s.editWebhook, false},
		{post, "/webhooks/{id}/edit", owner, webhooks, s.updateWebhook, false},
		{post, "/webhooks/{id}/active", owner, webhooks, s.switchWebhook, false},
		{post, "/webhooks/{id}/test", owner, webhooks, s.testWebhook, false},
		{post, "/webhooks/{id}/replay", owner, webhooks, s.replayWebhook, false},
		{get, "/webhooks/{id}/delete", owner, webhooks, s.askDeleteWebhook, false},
		{post, "/webhooks/{id}/delete", owner, webhooks, s.deleteWebhook, false},
		{post, "/deliveries/{id}/resend", owner, webhooks, s.resendDelivery, false},

		{get, "/settings", owner, basic, s.settings, false},
		{post, "/settings", owner, basic, s.saveSettings, false},
		{get, "/settings/users", owner, basic, s.users, false},
		{get, "/settings/users/new", owner, basic, s.newUser, false},
		{post, "/settings/users/new", owner, basic, s.createUser, false},
		{get, "/settings/users/{id}", owner, basic, s.editUser, false},
		{post, "/settings/users/{id}", owner, basic, s.updateUser, false},
		{post, "/settings/users/{id}/link", owner, basic, s.userLink, false},
		{post, "/settings/users/{id}/second-factor", owner, basic, s.removeSecondFactor, false},
		{get, "/settings/users/{id}/remove", owner, basic, s.askRemoveUser, false},
		{post, "/settings/users/{id}/remove", owner, basic, s.removeUser, false},
		{get, "/settings/audit", owner, basic, s.audit, false},
		{get, "/profile", self, basic, s.profile, false},
		{post, "/profile/password", self, basic, s.changePassword, false},
		{post, "/profile/sessions/{id}/end", self, basic, s.endSession, false},
		{get, "/profile/second-factor", self, basic, s.secondFactor, false},
		{post, "/profile/second-factor", self, basic, s.confirmSecondFactor, false},
		{post, "/profile/second-factor/off", self, basic, s.dropSecondFactor, false},
	}
}
