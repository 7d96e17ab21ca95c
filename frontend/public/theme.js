// Before the first paint, so that a dark page never flashes white. A file of its own: the page's policy forbids inline scripts.
(function () {
  var stored = null;
  try {
    stored = localStorage.getItem("theme");
  } catch {
    // Storage may be blocked; the system's preference then decides.
  }
  var dark = stored === "dark" || (stored !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
})();
