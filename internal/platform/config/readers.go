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
	return func(cfg *Config, v string) error {
		*field(cfg) = v
		return nil
	}
}

func whole(field func(*Config) *int, low, high int) func(*Config, string) error {
	return func(cfg *Config, value string) error {
		number, err := strconv.Atoi(value)
		if err != nil || number < low || number > high {
			return fmt.Errorf("%q must be a whole number from %d to %d", value, low, high)
		}
		*field(cfg) = number
		return nil
	}
}

func networks(field func(*Config) *[]netip.Prefix) func(*Config, string) error {
	return func(cfg *Config, v string) error {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			network, err := netip.ParsePrefix(part)
			if addr, e := netip.ParseAddr(part); err != nil && e == nil {
				network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
			}
			if err != nil {
				return fmt.Errorf("%q must be a network such as 10.0.0.0/8", part)
			}
			*field(cfg) = append(*field(cfg), network.Masked())
		}
		return nil
	}
}

func readListen(cfg *Config, value string) error {
	if _, _, err := net.SplitHostPort(value); err != nil {
		return fmt.Errorf("%q must be an address such as 127.0.0.1:8080", value)
	}
	cfg.Listen = value
	return nil
}

func readDatabase(cfg *Config, value string) error {
	scheme, _, _ := strings.Cut(value, ":")
	switch scheme {
	case "", "sqlite":
	case "postgres", "postgresql":
		if address, err := url.Parse(value); err != nil || address.Host == "" {
			return errors.New("must look like postgres://user:password@host:5432/database") // the value may hold a password
		}
	default:
		return errors.New("must start with sqlite: or postgres://")
	}
	cfg.DatabaseURL = value
	return nil
}

func readPublicURL(cfg *Config, value string) error {
	if value == "" {
		return nil
	}
	address, err := url.Parse(value)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return fmt.Errorf("%q must be a web address such as https://clientes.example.com", value)
	}
	cfg.PublicURL = strings.TrimRight(value, "/")
	return nil
}

func readKeys(cfg *Config, value string) error {
	if value == "" {
		return nil
	}
	for part := range strings.SplitSeq(value, ",") {
		key, err := secret.ParseKey(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		cfg.SecretKeys = append(cfg.SecretKeys, key)
	}
	return nil
}

func readDelays(cfg *Config, value string) error {
	for part := range strings.SplitSeq(value, ",") {
		span, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || span < 0 {
			return fmt.Errorf("%q must be a list of waits such as 0s,1m,5m", value)
		}
		cfg.WebhookRetryDelays = append(cfg.WebhookRetryDelays, span)
	}
	return nil
}

func readShutdownDelay(cfg *Config, value string) error {
	const longest = 5 * time.Minute
	span, err := time.ParseDuration(value)
	if err != nil || span < 0 || span > longest {
		return fmt.Errorf("%q must be a time from 0s to %s, such as 10s", value, longest)
	}
	cfg.ShutdownDelay = span
	return nil
}

func readMail(cfg *Config, value string) error {
	if value == "" {
		return nil
	}
	address, err := url.Parse(value)
	if err != nil || address.Hostname() == "" || address.Scheme != "smtp" && address.Scheme != "smtps" {
		return errors.New("must look like smtp://user:password@host:587 or smtps://user:password@host:465") // the value may hold a password
	}
	cfg.Mail = address
	return nil
}

func email(field func(*Config) *string) func(*Config, string) error {
	return func(cfg *Config, value string) error {
		address, err := mail.ParseAddress(value)
		if value != "" && (err != nil || address.Address != value) {
			return fmt.Errorf("%q must be an e-mail address such as carteira@example.com", value)
		}
		*field(cfg) = value
		return nil
	}
}

func readSandboxGateway(cfg *Config, value string) error {
	switch cfg.SandboxGateway = Switch(value); cfg.SandboxGateway {
	case SwitchOn, SwitchOff, SwitchAuto:
		return nil
	}
	return fmt.Errorf("%q must be on, off or auto", value)
}

func readLevel(cfg *Config, v string) error {
	if err := cfg.LogLevel.UnmarshalText([]byte(v)); err != nil {
		return fmt.Errorf("%q must be debug, info, warn or error", v)
	}
	return nil
}

func readFormat(cfg *Config, value string) error {
	if value != "text" && value != "json" {
		return fmt.Errorf("%q must be text or json", value)
	}
	cfg.LogFormat = value
	return nil
}

// readSandbox reads a switch that no kind of installation decides.
func readSandbox(cfg *Config, value string) error {
	switch value {
	case "on", "true":
		cfg.Sandbox = true
	case "off", "false", "":
		cfg.Sandbox = false
	default:
		return errors.New("must be on or off")
	}
	return nil
}
