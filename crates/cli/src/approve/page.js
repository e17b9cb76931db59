// Reloads the page when the list has changed, but not while a reason is being typed.
const shown = document.body.dataset.version;
const find = (id) => document.getElementById(id);
const timer = setInterval(async () => {
  for (const time of document.querySelectorAll("[data-left]")) {
    const left = Math.max(0, Number(time.dataset.left) - 1);
    time.dataset.left = left;
    time.textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
  }
  let version;
  try {
    version = (await (await fetch("version")).text()).trim();
  } catch {
    clearInterval(timer);
    find("ended").hidden = false;
    return;
  }
  if (version === shown) return;
  const typing = [...document.querySelectorAll("input[name=reason]")].some((it) => it.value);
  if (typing) find("changed").hidden = false;
  else location.reload();
}, 1000);
