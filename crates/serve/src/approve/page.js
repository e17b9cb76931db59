// Shows the questions, and sends the answers. All texts of a call become text nodes, never markup.
const find = (selector, inside = document) => inside.querySelector(selector);
const shown = new Map();
// So many times in a row may the list be missing before the command counts as ended.
const MISSES = 3;
let known = "-", waking, missed = 0;

function say(text) {
  find("#said").textContent = text;
  find("#said").hidden = !text;
}

function element(tag, text, name) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

async function answer(question, choice, reason = "") {
  const address = `${choice}/${question.id}/${question.digest}?${encodeURIComponent(reason)}`;
  try {
    const sent = await fetch(address, { method: "POST" });
    say((await sent.text()).trim());
  } catch {
    say("The answer did not arrive: try again.");
  }
  await refresh();
}

function made(question) {
  const section = find("#question").content.cloneNode(true).firstElementChild;
  find(".tool", section).textContent = question.tool;
  find(".id", section).textContent = question.id;
  find(".digest code", section).textContent = question.digest;
  const parts = question.parts.flatMap((part) => [
    element("h3", part.title),
    element("pre", part.text, part.is_old ? "old" : ""),
  ]);
  find(".parts", section).replaceChildren(...parts);
  find(".allow", section).onclick = () => answer(question, "allow");
  find("form", section).onsubmit = (event) => {
    event.preventDefault();
    answer(question, "deny", find("input", section).value);
  };
  return section;
}

function show(questions) {
  const open = new Set(questions.map((question) => question.id));
  for (const [id, entry] of shown) {
    if (open.has(id)) continue;
    entry.section.remove();
    shown.delete(id);
  }
  for (const question of questions) {
    if (shown.has(question.id)) continue;
    const entry = { section: made(question), until: Date.now() + question.seconds * 1000 };
    shown.set(question.id, entry);
    find("#questions").append(entry.section);
  }
  known = [...open].join(",");
  document.title = (open.size ? `(${open.size}) ` : "") + "hookexec approve";
  find("#questions").dataset.none = open.size ? "" : "No question is open.";
  // A list that has just changed takes no click that was meant for the one before.
  find("#questions").classList.add("changed");
  clearTimeout(waking);
  waking = setTimeout(() => find("#questions").classList.remove("changed"), 1000);
}

function tick() {
  for (const { section, until } of shown.values()) {
    const left = Math.max(0, Math.floor((until - Date.now()) / 1000));
    find("time", section).textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  }
}

async function refresh() {
  try {
    // The answer is `null` while the list is the same.
    const questions = await (await fetch(`questions?${known}`)).json();
    if (questions) show(questions);
    missed = 0;
  } catch {
    missed += 1;
    if (missed < MISSES) return;
    clearInterval(timer);
    find("#questions").replaceChildren();
    say("`hookexec approve` has ended: nothing on this page can be answered.");
  }
  tick();
}

const timer = setInterval(refresh, 1000);
refresh();
