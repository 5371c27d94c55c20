package api

import (
	"context"

	"carteira/internal/account"
	"carteira/internal/platform/civil"
	"carteira/internal/platform/fault"
	"carteira/internal/web"
)

type accountRecord struct {
	User    *userRecord   `json:"user"`
	Company companyRecord `json:"company"`
	Token   tokenRecord   `json:"token"`
}

type userRecord struct {
	ID    int64        `json:"id"`
	Name  string       `json:"name"`
	Email string       `json:"email"`
	Role  account.Role `json:"role"`
}

type companyRecord struct {
	ID        int64         `json:"id"`
	Name      string        `json:"name"`
	Level     account.Level `json:"level"`
	Timezone  string        `json:"timezone"`
	CreatedAt string        `json:"created_at"`

	Status    account.Standing   `json:"status"`
	ExpiresAt *string            `json:"expires_at"`
	Functions []account.Function `json:"functions"`

	BooksClosedThrough *string `json:"books_closed_through"`
}

type tokenRecord struct {
	ID         int64   `json:"id"`
	Name       string  `json:"name"`
	CreatedAt  string  `json:"created_at"`
	LastUsedAt *string `json:"last_used_at"`

	Scope     account.Scope `json:"scope"`
	ExpiresAt *string       `json:"expires_at"`
}

// account answers who owns the token, the company, and which token it is.
func (s *Server) account(ctx context.Context, call *call) (web.Answer, error) {
	company := call.actor.Company
	token, err := s.Accounts.Token(ctx, call.actor, call.actor.TokenID)
	if err != nil {
		return web.Answer{}, err
	}
	record := accountRecord{
		Company: companyRecord{
			ID:        company.ID,
			Name:      company.Name,
			Level:     company.Level,
			Timezone:  company.Zone.String(),
			CreatedAt: civil.Timestamp(company.CreatedAt, company.Zone),
			Status:    company.Subscription.Standing(call.today),
			ExpiresAt: textOrNull(company.Subscription.ExpiresOn.String()),
			Functions: company.Subscription.Functions.Names(),

			BooksClosedThrough: textOrNull(company.Settings.ClosedThrough.String()),
		},
		Token: tokenRecord{
			ID:        token.ID,
			Name:      token.Name,
			CreatedAt: civil.Timestamp(token.CreatedAt, company.Zone),
			Scope:     token.Scope,
			ExpiresAt: call.timeOrNull(token.ExpiresAt),
		},
	}
	if !token.LastUsedAt.IsZero() {
		used := civil.Timestamp(token.LastUsedAt, company.Zone)
		record.Token.LastUsedAt = &used
	}
	owner, err := s.Accounts.Owner(ctx, call.actor)
	switch {
	case err == nil:
		record.User = &userRecord{owner.ID, owner.Name, owner.Email, owner.Role}
	case fault.KindOf(err) != fault.KindNotFound:
		return web.Answer{}, err
	}
	return web.Answer{Data: web.JSON(record)}, nil
}
