package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"carteira/internal/platform/secret"
)

func text(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		*field(c) = v
		return nil
	}
}

func whole(field func(*Config) *int, low, high int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < low || n > high {
			return fmt.Errorf("%q must be a whole number from %d to %d", v, low, high)
		}
		*field(c) = n
		return nil
	}
}

func networks(field func(*Config) *[]netip.Prefix) func(*Config, string) error {
	return func(c *Config, v string) error {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			p, err := netip.ParsePrefix(part)
			if addr, e := netip.ParseAddr(part); err != nil && e == nil {
				p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
			}
			if err != nil {
				return fmt.Errorf("%q must be a network such as 10.0.0.0/8", part)
			}
			*field(c) = append(*field(c), p.Masked())
		}
		return nil
	}
}

func readListen(c *Config, v string) error {
	if _, _, err := net.SplitHostPort(v); err != nil {
		return fmt.Errorf("%q must be an address such as 127.0.0.1:8080", v)
	}
	c.Listen = v
	return nil
}

func readDatabase(c *Config, v string) error {
	scheme, _, _ := strings.Cut(v, ":")
	switch scheme {
	case "", "sqlite":
	case "postgres", "postgresql":
		if u, err := url.Parse(v); err != nil || u.Host == "" {
			return errors.New("must look like postgres://user:password@host:5432/database") // the value may hold a password
		}
	default:
		return errors.New("must start with sqlite: or postgres://")
	}
	c.DatabaseURL = v
	return nil
}

func readPublicURL(c *Config, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q must be a web address such as https://clientes.example.com", v)
	}
	c.PublicURL = strings.TrimRight(v, "/")
	return nil
}

func readKeys(c *Config, v string) error {
	if v == "" {
		return nil
	}
	for part := range strings.SplitSeq(v, ",") {
		k, err := secret.ParseKey(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		c.SecretKeys = append(c.SecretKeys, k)
	}
	return nil
}

func readDelays(c *Config, v string) error {
	for part := range strings.SplitSeq(v, ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || d < 0 {
			return fmt.Errorf("%q must be a list of waits such as 0s,1m,5m", v)
		}
		c.WebhookRetryDelays = append(c.WebhookRetryDelays, d)
	}
	return nil
}

func readShutdownDelay(c *Config, v string) error {
	const longest = 5 * time.Minute
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 || d > longest {
		return fmt.Errorf("%q must be a time from 0s to %s, such as 10s", v, longest)
	}
	c.ShutdownDelay = d
	return nil
}

func readMail(c *Config, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return errors.New("must look like smtp://user:password@host:587 or smtps://user:password@host:465") // the value may hold a password
	}
	c.Mail = u
	return nil
}

func readMailFrom(c *Config, v string) error {
	if a, err := mail.ParseAddress(v); v != "" && (err != nil || a.Address != v) {
		return fmt.Errorf("%q must be an e-mail address such as carteira@example.com", v)
	}
	c.MailFrom = v
	return nil
}

func readSwitch(field func(*Config) *Switch) func(*Config, string) error {
	return func(c *Config, v string) error {
		switch position := Switch(v); position {
		case SwitchOn, SwitchOff, SwitchAuto:
			*field(c) = position
			return nil
		}
		return fmt.Errorf("%q must be on, off or auto", v)
	}
}

func readLevel(c *Config, v string) error {
	if err := c.LogLevel.UnmarshalText([]byte(v)); err != nil {
		return fmt.Errorf("%q must be debug, info, warn or error", v)
	}
	return nil
}

func readFormat(c *Config, v string) error {
	if v != "text" && v != "json" {
		return fmt.Errorf("%q must be text or json", v)
	}
	c.LogFormat = v
	return nil
}
