package program

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"carteira/internal/platform/sqldb"
)

// certificate makes a certificate and its key in files, over those that are
// there, as tools that renew certificates do.
func certificate(t *testing.T, certFile, keyFile string, serial int64, modified time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}, &x509.Certificate{}, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert},
		keyFile:  {Type: "PRIVATE KEY", Bytes: private},
	} {
		write(t, path+".new", string(pem.EncodeToMemory(block)))
		if err := os.Chtimes(path+".new", modified, modified); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHTTPSServesTheCertificateThatIsInTheFiles(t *testing.T) {
	t.Parallel()
	in := install(t, sqldb.SQLite)
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	certificate(t, cert, key, 1, time.Now())
	server := in.serve("CARTEIRA_TLS_CERT="+cert, "CARTEIRA_TLS_KEY="+key)
	serial := func() int64 {
		page := fetch(t, trusting(), "https://"+server.address+"/healthz") // a new connection each time
		if page.ProtoMajor != 2 || page.status != 200 || page.Header.Get("Strict-Transport-Security") == "" {
			t.Fatalf("%s %d with %v", page.Proto, page.status, page.Header)
		}
		return page.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Fatalf("certificate %d", got)
	}
	// Restored from a backup, a file is older than the one it replaces.
	certificate(t, cert, key, 2, time.Now().Add(-time.Hour))
	eventually(t, "the new certificate is served", func() bool { return serial() == 2 })
	if plain := server.get("/healthz"); plain.status != 400 {
		t.Errorf("HTTP on the port of HTTPS: %d", plain.status)
	}
}
