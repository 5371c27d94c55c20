// Package browser drives the panel in a real Chromium: the journeys that
// matter, a picture of every page, and the accessibility of each. It is a
// module of its own, so that what drives the browser stays out of the
// program's dependencies; it knows the program by its binary alone.
package browser

import (
	"bufio"
	"cmp"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// patience is how long anything may take before a test gives up; nothing waits
// that long when all is well.
const patience = 2 * time.Minute

var (
	binary  string
	browser context.Context
	folder  string // of what the tests share: the program, the demo
	trusted string // the certificate of every server that httptest makes
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	chromium, err := findChromium()
	if err != nil {
		if os.Getenv("CI") == "true" {
			fmt.Fprintln(os.Stderr, "chromium is not installed")
			return 1
		}
		fmt.Println("chromium is not installed: nothing is tested; `make test` installs it where it may")
		return 0
	}
	dir, err := os.MkdirTemp("", "carteira-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	folder, binary = dir, filepath.Join(dir, "carteira")
	build := exec.Command("go", "build", "-ldflags=-w", "-o", binary, "./cmd/carteira")
	build.Dir, build.Stdout, build.Stderr = "../..", os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	if trusted, err = certificate(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "pt-BR"), chromedp.Flag("accept-lang", "pt-BR"),
		chromedp.Flag("js-flags", "--no-opt --no-maglev"), // no page runs for long enough to gain
		chromedp.Flag("allow-pre-commit-input", true),     // input before the first frame counts
		chromedp.Flag("disable-software-rasterizer", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // a page loads nothing from elsewhere
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var end context.CancelFunc
	browser, end = chromedp.NewContext(allocator)
	defer end()
	if err := chromedp.Do(browser, chromedp.Navigate("about:blank")); err != nil {
		fmt.Fprintln(os.Stderr, "start chromium:", err)
		return 1
	}
	code := m.Run()
	if err := leaveCounts(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// findChromium prefers Debian's build without windows, which takes half the processor's
// time. It goes by its own path: a signal to the script in /usr/bin would leave the browser
// running.
func findChromium() (string, error) {
	if shell, err := exec.LookPath("/usr/lib/chromium/chromium-headless-shell"); err == nil {
		return shell, nil
	}
	return exec.LookPath("chromium")
}

// program is a running carteira.
type program struct {
	t        *testing.T
	url      string
	dir      string
	postgres string   // the address of its database; "": the embedded one
	listen   string   // where it serves; "": on any port
	lines    []string // of what it printed
	mu       sync.Mutex
}

var address = regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*`)

// environment is where the program and its commands find their data.
func (p *program) environment() []string {
	env := append(os.Environ(), "CARTEIRA_DATA_DIR="+p.dir)
	if p.postgres != "" {
		env = append(env, "CARTEIRA_DATABASE_URL="+p.postgres, "CARTEIRA_SECRET_KEY="+strings.Repeat("0f", 32))
	}
	return env
}

// launch runs a command that serves the program's data, and waits until it does.
func (p *program) launch(ready string, args ...string) {
	t := p.t
	t.Helper()
	cmd := exec.Command(binary, append(args, "--listen", cmp.Or(p.listen, "127.0.0.1:0"))...)
	cmd.Dir = p.dir
	cmd.Env = append(p.environment(), "CARTEIRA_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8", "CARTEIRA_MESSAGE_ALLOW_NETWORKS=127.0.0.0/8",
		"CARTEIRA_WEBHOOK_RETRY_DELAYS=0s,1ms,1ms,1ms,1ms,1ms", "SSL_CERT_FILE="+trusted)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	up, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		told := false
		for s := bufio.NewScanner(out); s.Scan(); {
			p.mu.Lock()
			p.lines = append(p.lines, s.Text())
			p.mu.Unlock()
			if !told && strings.Contains(s.Text(), ready) {
				told = true
				close(up)
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-gone
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(p.printed())
		}
	})
	select {
	case <-up:
	case <-gone:
		t.Fatalf("it did not start:\n%s", p.printed())
	case <-time.After(patience):
		t.Fatalf("it does not become ready:\n%s", p.printed())
	}
	p.url = "http://" + address.FindString(p.printed())
}

func (p *program) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// command runs a command while the server runs.
func (p *program) command(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = p.dir, p.environment()
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("carteira %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// tab is a tab of the browser with cookies of its own. It fails the test when
// a page complains in the console: a script that broke, a policy that forbids
// what the page asks for.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string

	begun      bool
	looking    bool   // what is done changes nothing, and may be done again
	stood      string // what could be read when a button was last pressed
	clicks     int    // since a journey was last counted
	keys       int    // likewise
	width      int64  // of the window as it was last made
	height     int64  // likewise
	dark       bool   // likewise
	scriptless bool   // scripts are switched off, and no page says that it is ready
	again      string // on what the journey runs that was pictured on the embedded database; "": on that
}

func (p *program) open(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, ctx: ctx, url: p.url}
	if p.postgres != "" {
		b.again = "PostgreSQL"
	}
	b.do(focused)
	b.size(1280, 900, false)
	console := chromedp.Console(ctx)
	quiet := make(chan struct{})
	go func() {
		defer close(quiet)
		for m, err := range console {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == chromedp.ConsoleError && !strings.Contains(m.Text, "Failed to load resource") && !strings.Contains(m.Text, "Failed to fetch") {
				t.Errorf("the console says: %s", m)
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-quiet })
	return b
}

// focused makes a tab believe that it has the cursor, which of several tabs only
// one has.
var focused = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return err
})

// do runs steps within patience.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ask(b, chromedp.Steps(steps...))
}

// nodeGone is what Chromium says of an element if its page was replaced between
// the look for it and its use.
const nodeGone = "Could not find node with given id"

// ask runs an action within patience and returns what it finds.
func ask[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	if !b.begun { // the first action makes the tab, which ends with its context
		b.begun = true
		if err := chromedp.Do(b.ctx, chromedp.Navigate("about:blank")); err != nil {
			b.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	found, err := chromedp.Run(ctx, action)
	for b.looking && err != nil && strings.Contains(err.Error(), nodeGone) && ctx.Err() == nil {
		found, err = chromedp.Run(ctx, action)
	}
	if err != nil {
		late, end := context.WithTimeout(b.ctx, 5*time.Second)
		defer end()
		html, _ := chromedp.Run(late, chromedp.OuterHTML(chromedp.CSS("main")))
		b.t.Fatalf("%v\n%.3000s", err, html)
	}
	return found
}

func (b *tab) visit(path string) {
	b.t.Helper()
	b.stood = ""
	b.do(chromedp.Navigate(b.url+path), chromedp.WaitReady(chromedp.CSS("main")))
	b.settle()
}

// see waits until the page shows texts, of which the first must be news: one that
// stood there before a button was pressed would wait for nothing. A page that goes
// away meanwhile takes the question with it, which is then asked of the next; a
// page before its scripts ran is not the page that a person sees.
func (b *tab) see(texts ...string) {
	b.t.Helper()
	if strings.Contains(b.stood, texts[0]) {
		b.t.Errorf("%q stood there before", texts[0])
	}
	b.stood = ""
	for _, text := range texts {
		shown := chromedp.Poll[chromedp.Void](fmt.Sprintf(`%s && document.body.innerText.includes(%q)`, ready, text), chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(patience/2))
		b.do(func(ctx context.Context, t *chromedp.Target) (v chromedp.Void, err error) {
			for range 100 {
				if v, err = shown(ctx, t); err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "navigated") && !strings.Contains(err.Error(), "context") {
					break
				}
			}
			return v, err
		})
	}
}

// fill puts a value in place of what the field of a name holds, as one who pastes does.
func (b *tab) fill(name, value string) {
	b.t.Helper()
	sel := b.emptied(name, value)
	b.do(chromedp.Focus(sel), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: value})
		return err
	}))
}

// write is fill key by key, for fields that follow what is typed.
func (b *tab) write(name, value string) {
	b.t.Helper()
	sel := b.emptied(name, value)
	b.do(chromedp.SendKeys(sel, value))
}

// emptied empties the field of a name, rather than selecting what it holds, since the focus that
// typing gives may undo a selection.
func (b *tab) emptied(name, value string) chromedp.CSS {
	b.t.Helper()
	b.keys += utf8.RuneCountInString(value)
	b.settle()
	sel := chromedp.CSS(fmt.Sprintf(`main [name=%q]:not([type=hidden])`, name))
	b.do(chromedp.WaitVisible(sel), chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).value = ""; 0`, sel)))
	return sel
}

// set gives a field a value that is not typed, such as a date or a choice.
func (b *tab) set(name, value string) {
	b.t.Helper()
	b.settle()
	sel := chromedp.CSS(fmt.Sprintf(`main [name=%q]:not([type=hidden])`, name))
	b.do(chromedp.WaitVisible(sel), chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(e => {
		e.value = %q
		for (const kind of ["input", "change"]) e.dispatchEvent(new Event(kind, {bubbles: true}))
	})(document.querySelector(%q))`, value, sel)))
}

// find waits until an element can be seen, on the page that comes when another is
// just going.
func (b *tab) find(seen chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.looking = true
	b.do(seen)
	b.looking = false
}

// ready holds where a page can be used: it is loaded, its scripts listen, and no
// question or part of it is on its way. What comes can move the button that is about
// to be clicked.
const ready = `document.readyState === "complete" && document.querySelector(".htmx-request") === null &&
	(document.documentElement.dataset.ready === "yes" || document.querySelector('script[src$="/carteira.js"]') === null)`

// settle waits until the page can be used.
func (b *tab) settle() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	loaded := ready
	if b.scriptless {
		loaded = `document.readyState === "complete"`
	}
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](loaded)); err == nil && is { // a page that goes away answers nothing
			return
		}
	}
	b.t.Fatal("the page does not become ready")
}

// press clicks the button or link that reads text, in a dialog if one is open.
func (b *tab) press(text string) {
	b.t.Helper()
	b.clicks++
	b.settle()
	b.stood = ask(b, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	named := chromedp.Search(fmt.Sprintf(`(//dialog | //main)//*[self::button or self::a][contains(normalize-space(.), %q)]`, text))
	b.find(chromedp.WaitVisible(named))
	b.hit(chromedp.Click(named, chromedp.NodeVisible))
}

// hit clicks until the page has received the click. One that comes while a busy
// machine still scrolls the page, or has drawn nothing of it, reaches nothing.
func (b *tab) hit(click chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	b.settle()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		b.steady()
		ask(b, chromedp.Evaluate[int](`received = false; document.addEventListener("click", (e) => {
			received = e.target.closest("a, button, input, summary, label") !== null
		}, {capture: true, once: true}); 0`))
		b.do(click)
		// Scripts of the next page, or of none, have not set it.
		missed, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`typeof received !== "undefined" && !received`))
		if err != nil || !missed || b.scriptless {
			return
		}
	}
	b.t.Fatal("no click reaches what is pressed")
}

// steady waits until the page has stopped scrolling, as after an address with a
// fragment: a click goes to where its button was a moment ago.
func (b *tab) steady() {
	b.t.Helper()
	const where = `Math.round(scrollY) + " " + document.documentElement.scrollHeight`
	for before := ""; ; time.Sleep(50 * time.Millisecond) {
		now := ask(b, chromedp.Evaluate[string](where))
		if now == before {
			return
		}
		before = now
	}
}

func (b *tab) text(sel string) string {
	b.t.Helper()
	return strings.TrimSpace(ask(b, chromedp.Text(chromedp.CSS(sel))))
}

func (b *tab) signIn(email, password string) {
	b.t.Helper()
	b.visit("/login")
	b.fill("email", email)
	b.fill("password", password)
	b.press("Entrar")
}

// size makes the window a phone or a screen, light or dark.
func (b *tab) size(width, height int64, dark bool) {
	b.t.Helper()
	if width == b.width && height == b.height && dark == b.dark {
		return
	}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.do(chromedp.EmulateViewport(width, height))
	if b.width == 0 || b.dark != dark { // it makes the page find its style anew
		b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
			})
			return err
		}))
	}
	if b.dark != dark { // what a box holds has the new colours once it has been drawn
		b.do(drawn)
	}
	b.width, b.height, b.dark = width, height, dark
}

// drawn waits until the page has been drawn as it is now.
var drawn = chromedp.Evaluate[chromedp.Void](
	`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`,
	chromedp.EvalAwaitPromise,
)

// get calls the API.
func (p *program) get(token, path string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequest(http.MethodGet, p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// certificate keeps the certificate of httptest's servers, which is one for all,
// for the program to trust.
func certificate(dir string) (string, error) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	file := filepath.Join(dir, "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return file, os.WriteFile(file, block, 0o600)
}
