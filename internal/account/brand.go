package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"

	"carteira/internal/platform/fault"
	"carteira/internal/platform/input"
	"carteira/internal/platform/picture"
	"carteira/internal/platform/sqldb"
)

// Brand is the company's face on the pages that its customers see.
type Brand struct {
	Color string // as #05694b; "": the house's
	Logo  string // the version of its picture; "": none
}

// HouseColor is the color of a company that has chosen none.
const HouseColor = "#05694b"

var colorPattern = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// readColor reads a color as a browser sends it. The house's own is none.
func readColor(in *input.Form, name string) input.Opt[string] {
	color := in.Line(name, len(HouseColor))
	color.Value = strings.ToLower(color.Value)
	switch {
	case color.HasValue() && !colorPattern.MatchString(color.Value):
		in.Refuse(name, "must be a color such as #05694b")
		return input.Opt[string]{}
	case color.Value == HouseColor:
		color.Value = ""
	}
	return color
}

// MaxLogoFile bounds the file that a logo is made of.
const MaxLogoFile = 2 << 20

// logoSize is the box that a logo is made to fit, twice as large as it is shown.
var logoSize = picture.Size{Width: 480, Height: 160}

// SetLogo makes the company's logo of a PNG or JPEG file. What is stored is the
// program's own picture of it: nothing of the file but its pixels is kept.
func (s *Service) SetLogo(ctx context.Context, actor Actor, file []byte) error {
	if len(file) == 0 {
		return fault.Field("logo", "choose a file")
	}
	if err := s.countLogo(ctx, actor); err != nil {
		return err
	}
	content, err := picture.Fit(ctx, file, logoSize)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fault.Field("logo", err.Error())
	}
	sum := sha256.Sum256(content)
	return s.changeLogo(ctx, actor, logo{hex.EncodeToString(sum[:16]), content})
}

// countLogo counts a file that is to be decoded, and refuses one too many.
func (s *Service) countLogo(ctx context.Context, actor Actor) error {
	const logosOfHour = 20
	err := s.countAttempt(ctx, []quota{{"logo:" + strconv.FormatInt(actor.Company.ID, 10), logosOfHour, time.Hour}})
	if fault.KindOf(err) == fault.KindRateLimited {
		return fault.New(fault.KindRateLimited, "too many logos were sent; wait an hour and try again")
	}
	return err
}

// RemoveLogo takes the logo off the company's pages.
func (s *Service) RemoveLogo(ctx context.Context, actor Actor) error {
	return s.changeLogo(ctx, actor, logo{})
}

// logo is a picture and the version by which pages ask for it.
type logo struct {
	version string
	content []byte
}

func (s *Service) changeLogo(ctx context.Context, actor Actor, made logo) error {
	return actor.Write(ctx, s.db, func(tx Tx) error {
		before, err := lockCompany(ctx, tx.Tx, actor.Company.ID)
		if err != nil {
			return err
		}
		if err := replaceLogo(ctx, tx.Tx, before.ID, made); err != nil {
			return err
		}
		after := before
		after.Brand.Logo = made.version
		return s.applyCompany(ctx, tx, &Change{
			Action: CompanyUpdated,
			Before: Profile{Company: before},
			After:  Profile{Company: after},
		})
	})
}

// Logo finds the picture of a version, as PNG. The version is made of the
// picture, so that only a reader of its page can ask for it.
func (s *Service) Logo(ctx context.Context, version string) ([]byte, error) {
	content, err := sqldb.Value[[]byte](ctx, s.db,
		`SELECT content FROM company_logos WHERE version = ? /* every company_id */ LIMIT 1`, version)
	return content, sqldb.Found(err, "logo")
}

func replaceLogo(ctx context.Context, tx *sqldb.Tx, companyID int64, made logo) error {
	_, err := tx.Exec(ctx, `DELETE FROM company_logos WHERE company_id = ?`, companyID)
	if err != nil || made.version == "" {
		return err
	}
	return tx.Do(ctx, `INSERT INTO company_logos (company_id, version, content) VALUES (?, ?, ?)`,
		companyID, made.version, made.content)
}
