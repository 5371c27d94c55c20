// Before anything is painted: Basecoat's dark styles hang on a class, which a
// reader who has chosen nothing gets from the system.
(() => {
  const root = document.documentElement;
  if (root.dataset.theme) return;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => root.classList.toggle("dark", dark.matches);
  dark.addEventListener("change", apply);
  apply();
})();
