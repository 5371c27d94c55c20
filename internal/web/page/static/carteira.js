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
  const before = document.querySelector("dialog.ask");
  if (before?.contains(opener)) opener = before.opener ?? opener; // the next record in the same dialog
  before?.close();
  const dialog = document.createElement("dialog");
  dialog.opener = opener;
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
  document.querySelectorAll("main > .flash[data-said]").forEach(toast);
}
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-ask]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  delete document.documentElement.dataset.ready;
  try {
    const answer = await fetch(link.href);
    if (!answer.ok) throw new Error("no question");
    await follow(answer, link);
    document.documentElement.dataset.ready = "yes";
  } catch {
    location.href = link.href;
  }
});
document.addEventListener("submit", async (event) => {
  const button = event.submitter, form = event.target;
  if (!button?.matches("[data-ask]") || event.defaultPrevented) return;
  event.preventDefault();
  form.setAttribute("aria-busy", "true");
  delete document.documentElement.dataset.ready;
  try {
    await follow(await fetch(form.getAttribute("action"), { method: "POST", body: new URLSearchParams(new FormData(form, button)) }), button);
  } catch {
    button.removeAttribute("data-ask");
    form.requestSubmit(button);
  } finally {
    form.removeAttribute("aria-busy");
    document.documentElement.dataset.ready = "yes";
  }
});
// Back and forward through pages that were swapped in. A jump within the page, as the skip link's, is none.
let jumping = false;
document.addEventListener("click", (event) => { jumping = Boolean(event.target.closest('a[href^="#"]')); });
addEventListener("popstate", () => { if (!jumping) location.reload(); jumping = false; });

// A link that opens another place and sends a form of this page: <a data-sends="id of the form">.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-sends]");
  if (link) document.getElementById(link.dataset.sends).requestSubmit();
});

// Lists one can pick from: the box in the head picks all, and the bar says how
// many are picked.
document.addEventListener("change", (event) => {
  const box = event.target;
  if (box.matches?.(".pickbox[data-all]")) box.form.querySelectorAll(".pick input").forEach((b) => { b.checked = box.checked; });
  const count = box.form?.querySelector("[data-picked]");
  if (!count) return;
  const picked = box.form.querySelectorAll(".pick input:checked").length;
  count.textContent = picked === 1 ? count.dataset.single : count.dataset.many.replace("%s", picked);
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

// Enter waits for what was typed last: what is shown may be of a shorter word.
const openFirst = (box) => {
  const found = box.querySelector("#found"), asked = box.querySelector("input").value.trim();
  if (found.dataset.of.trim() !== asked) return false;
  found.querySelector("a")?.click();
  return true;
};
document.addEventListener("submit", (event) => {
  const box = event.target.closest("dialog .finder");
  if (!box) return;
  event.preventDefault();
  if (!openFirst(box)) box.dataset.entered = "yes";
}, true);
document.addEventListener("input", (event) => { delete event.target.closest("dialog .finder")?.dataset.entered; });
document.addEventListener("htmx:after:swap", () => {
  const box = document.querySelector("dialog .finder[data-entered]");
  if (box && openFirst(box)) delete box.dataset.entered;
});

// Pages that print well.
document.addEventListener("click", (event) => { if (event.target.closest("[data-print]")) print(); });

// Masks: <input data-mask> is written as people in Brazil write it, while the
// cursor is at its end. The server reads any spelling.
const cut = (text, ...parts) => {
  let at = 0, out = "";
  for (const [length, before] of parts) {
    if (at >= text.length) break;
    out += before + text.slice(at, at + length);
    at += length;
  }
  return out;
};
const masks = {
  phone(text) {
    let digits = text.replace(/\D/g, "");
    if (text.trim().startsWith("+") && !digits.startsWith("55")) return text;
    if (digits.length > 11 && digits.startsWith("55")) digits = digits.slice(2);
    digits = digits.replace(/^0(?=[1-9]\d{9,10}$)/, ""); // as dialled from afar
    if (digits.length < 10 || digits.length > 11 || digits.startsWith("0")) return text; // the area may still be missing
    return cut(digits, [2, "("], [digits.length > 10 ? 5 : 4, ") "], [4, "-"]);
  },
  taxid(text) {
    const plain = text.toUpperCase().replace(/[^0-9A-Z]/g, "");
    if (plain.length > 14) return text;
    return plain.length <= 11 && !/[A-Z]/.test(plain)
      ? cut(plain, [3, ""], [3, "."], [3, "."], [2, "-"])
      : cut(plain, [2, ""], [3, "."], [3, "."], [4, "/"], [2, "-"]);
  },
  digits: (text) => text.replace(/\D/g, ""),
  account(text) { // the check digit after a hyphen
    const digits = text.replace(/\D/g, "");
    return digits.length < 2 || digits.length > 20 || /[a-z]/i.test(text) ? text : digits.slice(0, -1) + "-" + digits.slice(-1);
  },
  cep(text) {
    const digits = text.replace(/\D/g, "");
    return digits.length > 8 ? text : cut(digits, [5, ""], [3, "-"]);
  },
};
const money = (text) => {
  let plain = text.replace(/R\$|\s/g, "");
  if (plain.includes(",")) plain = plain.replaceAll(".", "").replace(",", ".");
  else if (/^\d{1,3}(\.\d{3})+$/.test(plain)) plain = plain.replaceAll(".", "");
  return /^\d+(\.\d{1,2})?$/.test(plain) ? Number(plain).toLocaleString("pt-BR", { minimumFractionDigits: 2 }) : text;
};
document.addEventListener("input", (event) => {
  const field = event.target, mask = masks[field.dataset?.mask];
  if (!mask || event.inputType?.startsWith("delete") || field.selectionEnd !== field.value.length) return;
  field.value = mask(field.value);
});
document.addEventListener("change", (event) => {
  const field = event.target, mask = field.dataset?.mask === "money" ? money : masks[field.dataset?.mask];
  if (mask && field.value) field.value = mask(field.value);
});

// What was done is said at the foot of the window, for a while; what can be undone
// stays longer. Without scripts it is at the head of the page.
const toast = (flash) => {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "close";
  close.textContent = "×";
  close.ariaLabel = document.documentElement.lang === "en" ? "Close" : "Fechar";
  flash.append(close);
  flash.classList.add("toast");
  let timer;
  const wait = () => { timer = setTimeout(() => flash.remove(), flash.querySelector("form") ? 30000 : 8000); };
  const stay = () => clearTimeout(timer);
  close.addEventListener("click", () => flash.remove());
  for (const name of ["mouseenter", "focusin"]) flash.addEventListener(name, stay);
  for (const name of ["mouseleave", "focusout"]) flash.addEventListener(name, wait);
  wait();
};
document.querySelectorAll("main > .flash[role=status][data-said]").forEach(toast);

// A list that could not be asked for anew says so.
document.addEventListener("htmx:error", (event) => {
  const { ctx, error } = event.detail;
  if (!ctx || error?.name === "AbortError") return; // another letter was typed
  document.querySelector(".flash.offline")?.remove();
  const note = document.createElement("div");
  note.className = "flash offline toast";
  note.role = "alert";
  note.dataset.tone = "bad";
  note.textContent = document.documentElement.lang === "en" ? "No connection. Try again." : "Sem conexão. Tente de novo.";
  document.body.append(note);
  setTimeout(() => note.remove(), 8000);
});

// html[data-ready]: all of the above listens, and no question is on its way. Journeys of the tests wait for it.
document.documentElement.dataset.ready = "yes";
