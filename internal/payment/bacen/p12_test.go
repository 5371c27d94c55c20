package bacen

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"testing"
	"time"

	"software.sslmate.com/src/go-pkcs12"

	"carteira/test/kit/housetest"
)

// fileOf is a .p12 file of a fresh key.
func fileOf(t *testing.T, encoder *pkcs12.Encoder) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	housetest.Must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "conta"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	housetest.Must(t, err)
	leaf, err := x509.ParseCertificate(der)
	housetest.Must(t, err)
	file, err := encoder.Encode(key, leaf, nil, "s3nha")
	housetest.Must(t, err)
	return file
}

func TestFilesThatAskForTooMuchAreRefusedUnopened(t *testing.T) {
	few, many := []byte{2, 3, 1, 0, 1}, []byte{2, 3, 0x7f, 0xff, 0xff} // 65537 and 8388607, as DER
	for name, encoder := range map[string]*pkcs12.Encoder{"modern": pkcs12.Modern2023, "legacy": pkcs12.LegacyDES} {
		file := fileOf(t, encoder.WithIterations(65537))
		if _, err := bounded(file, "s3nha"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		seen := 0
		for at := 0; ; at++ {
			next := bytes.Index(file[at:], few)
			if next < 0 {
				break
			}
			at += next
			seen++
			greedy := bytes.Clone(file)
			copy(greedy[at:], many)
			again, err := bounded(greedy, "s3nha")
			if err == nil && bytes.Contains(again, many) {
				t.Errorf("%s: the file of %d bytes with 8388607 rounds at %d goes to the library", name, len(file), at)
			}
		}
		if seen < 2 {
			t.Errorf("%s: found %d numbers of rounds", name, seen)
		}
	}
	if _, err := bounded(bytes.Repeat([]byte{0x30, 0x80}, 100_000), ""); err == nil {
		t.Error("a deep nest was read")
	}
}

// sealedPart is an encrypted part that holds a key which asks for 2^62 rounds.
func sealedPart(t *testing.T, password string) asn1.RawValue {
	t.Helper()
	pack := func(value any) []byte {
		data, err := asn1.Marshal(value)
		housetest.Must(t, err)
		return data
	}
	raw := func(value any) asn1.RawValue { return asn1.RawValue{FullBytes: pack(value)} }
	salt, iv := make([]byte, 8), make([]byte, aes.BlockSize)
	scheme := func(rounds int64) pkix.AlgorithmIdentifier {
		hash := p12Hash{Salt: raw(salt), Iterations: rounds, Hash: pkix.AlgorithmIdentifier{Algorithm: oidHMACOfSHA256}}
		return pkix.AlgorithmIdentifier{Algorithm: oidPBES2, Parameters: raw(p12Scheme{
			pkix.AlgorithmIdentifier{Algorithm: oidPBKDF2, Parameters: raw(hash)},
			pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, 42}, Parameters: raw(iv)},
		})}
	}
	within := func(inner []byte) asn1.RawValue {
		return asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: inner}
	}
	plain := pack([]p12Bag{{Type: oidShroudedBag, Value: within(pack(p12Key{scheme(1 << 62), make([]byte, 16)}))}})
	fill := aes.BlockSize - len(plain)%aes.BlockSize
	plain = append(plain, bytes.Repeat([]byte{byte(fill)}, fill)...)
	key, err := pbkdf2.Key(sha256.New, password, salt, 1, 32)
	housetest.Must(t, err)
	block, err := aes.NewCipher(key)
	housetest.Must(t, err)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(plain, plain)
	var part p12Encrypted
	part.Content.Type, part.Content.Algorithm = oidData, scheme(1)
	part.Content.Bytes = asn1.RawValue{Class: asn1.ClassContextSpecific, Bytes: plain}
	return raw(p12Part{oidEncrypted, within(pack(part))})
}

// The key that is hidden in the encrypted part is not opened: this test ends.
func TestHiddenKeysAreNotOpened(t *testing.T) {
	file := fileOf(t, pkcs12.Modern2023.WithIterations(1))
	var outer p12File
	var content []byte
	var parts []asn1.RawValue
	housetest.Must(t, whole(file, &outer))
	housetest.Must(t, whole(outer.Safe.Content.Bytes, &content))
	housetest.Must(t, whole(content, &parts))
	hidden := sealedPart(t, "s3nha")
	if alone, err := p12Of([]asn1.RawValue{hidden}, "s3nha"); err != nil {
		t.Error(err)
	} else if _, err := bounded(alone, "s3nha"); err == nil {
		t.Error("a file whose only key is encrypted twice was read")
	}
	for _, part := range parts {
		two, err := p12Of([]asn1.RawValue{hidden, part}, "s3nha")
		housetest.Must(t, err)
		again, err := bounded(two, "s3nha")
		if err != nil {
			continue // the part of the certificates has no key
		}
		if _, _, _, err := pkcs12.DecodeChain(again, "s3nha"); err == nil {
			t.Error("two keys were read")
		}
	}
}
