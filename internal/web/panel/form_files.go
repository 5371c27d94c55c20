package panel

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
)

// fileForms are the routes whose forms may bring a file for a field. They are read
// before a proof is asked for, so that the question keeps what was sent.
var fileForms = map[string]bool{"POST /payments/gateways/{provider}": true}

// filePrefix begins the name of the input that takes the file of a field.
const filePrefix = "file_"

// readFiles puts what the files of a form hold in the place of their fields: text
// as it is, everything else in base64. The whole form is bounded by maxForm.
func (req *request) readFiles() error {
	err := req.ParseMultipartForm(maxForm)
	if errors.Is(err, http.ErrNotMultipart) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = req.MultipartForm.RemoveAll() }()
	for name, files := range req.MultipartForm.File {
		field, found := strings.CutPrefix(name, filePrefix)
		if !found || len(files) == 0 {
			continue
		}
		content, err := contentOf(files[0])
		if err != nil {
			return err
		}
		req.PostForm.Set(field, content)
	}
	for name := range req.PostForm { // a file that was not chosen is sent as an empty field
		if strings.HasPrefix(name, filePrefix) {
			req.PostForm.Del(name)
		}
	}
	return nil
}

// contentOf is what a file holds, as a form could say it.
func contentOf(header *multipart.FileHeader) (string, error) {
	file, err := header.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err := io.ReadAll(file)
	if bytes.Contains(content, []byte("-----BEGIN")) {
		return string(content), err
	}
	return base64.StdEncoding.EncodeToString(content), err
}
