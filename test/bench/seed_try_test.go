//go:build linux

package main

import (
	"context"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
)

func TestTrySeed(t *testing.T) {
	began := time.Now()
	_, err := seed(context.Background(), sqldb.SQLite, "sqlite:"+t.TempDir()+"/a.db", 100000)
	t.Log(err, time.Since(began))
}
