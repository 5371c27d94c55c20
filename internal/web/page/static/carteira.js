// Comforts. Every page works without them: links are links, forms are forms.

// Copy buttons: <button data-copy="#id"> copies the text of that element.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.querySelector(button.dataset.copy);
  const text = (source.value ?? source.textContent).trim();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (source.select) {
      source.select(); // a field keeps its text apart from the page's
    } else {
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }
    document.execCommand("copy");
  }
  const label = button.querySelector("[data-label]") ?? button;
  const before = label.textContent;
  label.textContent = button.dataset.done;
  setTimeout(() => { label.textContent = before; }, 1600);
});

// Questions: the page behind <a data-ask>, or that <button data-ask> leads to,
// opens as a dialog.
function openAsk(question, notes, opener) {
  document.querySelector("dialog.ask")?.close();
  const dialog = document.createElement("dialog");
  dialog.className = "ask";
  dialog.setAttribute("aria-labelledby", "ask-title");
  question.prepend(...notes);
  dialog.append(document.adoptNode(question));
  document.body.append(dialog);
  dialog.addEventListener("close", () => { dialog.remove(); if (opener.isConnected) opener.focus(); });
  dialog.querySelector("[data-cancel]")?.addEventListener("click", (e) => { e.preventDefault(); dialog.close(); });
  window.htmx?.process(dialog);
  dialog.showModal();
  if (opener.dataset.keys) { delete opener.dataset.keys; dialog.querySelector("details").open = true; }
}
async function follow(answer, opener) {
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const question = page.getElementById("ask");
  if (question) return openAsk(question, page.querySelectorAll("main > .flash[role=status]"), opener);
  const main = page.querySelector("main");
  if (!main) throw new Error("no page");
  document.querySelector("dialog.ask")?.close();
  document.querySelector("main").replaceWith(document.adoptNode(main));
  document.title = page.title;
  history.pushState(null, "", answer.url);
  window.htmx?.process(document.querySelector("main"));
}
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-ask]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const answer = await fetch(link.href);
    if (!answer.ok) throw new Error("no question");
    await follow(answer, link);
  } catch {
    location.href = link.href;
  }
});
document.addEventListener("submit", async (event) => {
  const button = event.submitter, form = event.target;
  if (!button?.matches("[data-ask]") || event.defaultPrevented) return;
  event.preventDefault();
  form.setAttribute("aria-busy", "true");
  try {
    await follow(await fetch(form.getAttribute("action"), { method: "POST", body: new URLSearchParams(new FormData(form, button)) }), button);
  } catch {
    button.removeAttribute("data-ask");
    form.requestSubmit(button);
  } finally {
    form.removeAttribute("aria-busy");
  }
});
addEventListener("popstate", () => location.reload());

// Lists one can pick from: the box in the head picks all, and the bar says how
// many are picked.
document.addEventListener("change", (event) => {
  const box = event.target;
  if (box.matches?.(".pickbox[data-all]")) box.form.querySelectorAll("tbody .pickbox").forEach((b) => { b.checked = box.checked; });
  const count = box.form?.querySelector("[data-picked]");
  if (!count) return;
  const picked = box.form.querySelectorAll("tbody .pickbox:checked").length;
  count.textContent = picked === 1 ? count.dataset.one : count.dataset.many.replace("%s", picked);
});

// A form that is on its way is not sent twice.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method === "get" || event.submitter?.matches("[data-ask]")) return;
  const form = event.target;
  if (form.dataset.sent) { event.preventDefault(); return; }
  form.dataset.sent = "yes";
  setTimeout(() => { delete form.dataset.sent; }, 8000);
});
addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach((f) => { delete f.dataset.sent; }));

// Words to insert: <button data-insert="{name}" data-into="#form"> puts them
// where the cursor was last, in a text of that form.
let lastText = null;
document.addEventListener("focusin", (event) => {
  if (event.target.matches?.("[data-insertable] input[type=text], [data-insertable] textarea")) lastText = event.target;
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-insert]");
  if (!button) return;
  const text = lastText?.isConnected && lastText.form === button.form ? lastText : document.querySelector(button.dataset.into);
  text.focus();
  text.setRangeText(button.dataset.insert, text.selectionStart, text.selectionEnd, "end");
});

// A select that decides what is shown sends its form.
document.addEventListener("change", (event) => {
  if (event.target.matches?.("[data-submit]")) event.target.form.requestSubmit();
});

// The tab that one is on is in sight, also where they are wider than a phone.
document.querySelector(".tabs-line [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

// Keys: the search from anywhere, the search of a list, a new customer, help.
document.addEventListener("keydown", (event) => {
  const finder = document.querySelector("a.finder-link");
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (!finder || event.altKey) return;
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    finder.click();
  } else if (event.ctrlKey || event.metaKey || typing || document.querySelector("dialog[open]")) {
    return;
  } else if (event.key === "/") {
    event.preventDefault();
    const box = document.querySelector("main .searchbox input");
    if (box) box.focus(); else finder.click();
  } else if (event.key === "n") {
    const link = document.querySelector('a[href="/customers/new"]');
    if (link) link.click();
  } else if (event.key === "?") {
    finder.dataset.keys = "yes";
    finder.click();
  }
});
// In the search, arrows go through what was found, and Enter opens the first.
document.addEventListener("keydown", (event) => {
  const box = event.target.closest?.(".finder");
  if (!box || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
  const links = [...box.querySelectorAll("#found a")];
  const at = links.indexOf(document.activeElement);
  event.preventDefault();
  const next = at + (event.key === "ArrowDown" ? 1 : -1);
  (links[next] ?? box.querySelector("input")).focus();
});

document.addEventListener("submit", (event) => {
  const first = event.target.closest("dialog .finder")?.querySelector("#found a");
  if (!first) return;
  event.preventDefault();
  first.click();
}, true);

// Pages that print well.
document.addEventListener("click", (event) => { if (event.target.closest("[data-print]")) print(); });
