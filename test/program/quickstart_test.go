package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// codeBlock is a block of a document: its language and its text.
var codeBlock = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// blocksOf are the blocks of a document in one language, in order.
func blocksOf(t *testing.T, document, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", document))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range codeBlock.FindAllStringSubmatch(string(text), -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has no block in %s", document, language)
	}
	return blocks
}

// terminal runs a script as one who pastes it into an empty folder, and returns
// what it prints. The shell and all that it started are gone afterwards.
func terminal(t *testing.T, script string) string {
	t.Helper()
	bin, folder := t.TempDir(), t.TempDir()
	if err := os.Symlink(binary, filepath.Join(bin, "carteira")); err != nil {
		t.Fatal(err)
	}
	var printed output
	sh := exec.Command("sh", "-eu", "-c", script)
	sh.Dir = folder
	sh.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + folder, "CARTEIRA_LISTEN=" + freeAddress(t)}
	sh.Stdout, sh.Stderr = &printed, &printed
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	sh.WaitDelay = time.Second
	if err := sh.Start(); err != nil {
		t.Fatal(err)
	}
	group := -sh.Process.Pid
	defer func() { _ = syscall.Kill(group, syscall.SIGKILL) }()
	late := time.AfterFunc(patience, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
	defer late.Stop()
	if err := sh.Wait(); err != nil {
		t.Fatalf("%v after:\n%s", err, printed.String())
	}
	return printed.String()
}

func TestQuickstartWorksWhenPasted(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	var script strings.Builder
	for _, block := range blocksOf(t, "quickstart.md", "sh") {
		script.WriteString("echo '$ " + strings.Split(strings.ReplaceAll(block, "'", ""), "\n")[0] + "'\n" + block)
	}
	printed := terminal(t, script.String())
	for _, want := range []string{
		`"name":"Ana Internet"`, `"external_id":"crm-1042"`, `"total":1`, `"pix_copy_paste":"`, `"status":"Pago"`,
		`"event":"invoice.paid"`, `"secret":"whsec_`, `"nome":["`, "as it should be",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("nothing says %s in:\n%s", want, printed)
		}
	}
}

func TestABlockThatFailsIsNoticed(t *testing.T) {
	t.Parallel()
	bin := exec.Command("sh", "-eu", "-c", "api() {\n  false && echo\n}\napi\necho never\n")
	if out, err := bin.CombinedOutput(); err == nil || len(out) > 0 {
		t.Errorf("%v, %s", err, out)
	}
}
