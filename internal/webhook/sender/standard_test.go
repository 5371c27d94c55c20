package sender

import "testing"

// The vector is that of the specification of Standard Webhooks.
func TestSignatureIsThatOfStandardWebhooks(t *testing.T) {
	const secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`
	got := signStandard([]byte(secret), "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(body))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := signStandard([]byte("whsec_no base64"), "evt_1", "1", nil); got != "" {
		t.Errorf("a secret that encodes nothing signed %s", got)
	}
}
