// The payer's page turns to what has become of the invoice, by itself. Without
// this it is looked at again now and then, by a refresh that stands in noscript.
(() => {
  const main = document.getElementById("main");
  if (!main?.dataset.ask) return;
  const skew = () => {
    const clock = main.querySelector("[data-until]");
    return clock ? Number(clock.dataset.now) * 1000 - Date.now() : 0;
  };
  let offset = skew();
  let pause = 2000;

  const show = (state) => {
    main.dataset.state = state;
    main.querySelectorAll("[data-while]").forEach((part) => {
      part.hidden = part.dataset.while !== (state === "expired" ? "expired" : "open");
    });
  };

  // The page as it is now takes the place of the one that is shown.
  const renew = async () => {
    const answer = await fetch(main.dataset.page, { headers: { Accept: "text/html" } });
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
    if (!fresh) throw new Error("no page");
    main.replaceChildren(...fresh.childNodes);
    main.dataset.state = fresh.dataset.state;
    offset = skew();
    main.querySelector("[role=status]")?.scrollIntoView({ block: "nearest" });
  };

  const ask = async () => {
    const answer = await fetch(main.dataset.ask, { cache: "no-store" });
    if (!answer.ok) throw new Error("no answer");
    const { state } = (await answer.json()).data;
    if (state === main.dataset.state) return;
    if (state === "expired") show(state); else await renew();
  };

  const done = () => ["paid", "none", "failing"].includes(main.dataset.state);
  const tick = async () => {
    if (!done() && !document.hidden) {
      try { await ask(); pause = 2000; } catch { pause = Math.min(2 * pause, 30000); }
    }
    setTimeout(tick, pause);
  };
  setTimeout(tick, pause);
  document.addEventListener("visibilitychange", () => { if (!document.hidden && !done()) ask().catch(() => {}); });

  const two = (n) => String(n).padStart(2, "0");
  const count = () => {
    const clock = main.querySelector("[data-until]");
    if (!clock) return;
    const left = Math.max(0, Math.round(Number(clock.dataset.until) - (Date.now() + offset) / 1000));
    if (left > 3600) { clock.textContent = ""; return; }
    clock.textContent = ` · ${Math.floor(left / 3600)}:${two(Math.floor(left / 60) % 60)}:${two(left % 60)}`;
    if (left === 0 && main.dataset.state.startsWith("open")) ask().catch(() => {});
  };
  count();
  setInterval(count, 1000);

  // A receipt to hand on, where the device can.
  const offer = () => main.querySelectorAll("[data-share]").forEach((button) => { button.hidden = !navigator.share; });
  offer();
  new MutationObserver(offer).observe(main, { childList: true });
  main.addEventListener("click", (event) => {
    const button = event.target.closest("[data-share]");
    if (button) navigator.share({ text: button.dataset.share, url: location.href }).catch(() => {});
  });

  // A gateway that failed is asked again when it may be.
  const retry = document.getElementById("retry");
  if (retry) setTimeout(() => { location.reload(); }, Number(retry.dataset.wait) * 1000);
})();
