// Shows the data of the page. Every text of it becomes a text node, never markup.
const DECISIONS = { deny: "denied", ask: "asked", allow: "allowed", none: "no opinion" };
const WORDS = Object.keys(DECISIONS);
const SVG = "http://www.w3.org/2000/svg";
const REASONS = 15; // the most frequent
const LINE = 300; // characters of a text on one line
const data = JSON.parse(document.getElementById("data").textContent);
const { numbers } = data;
// The first and the last minute, if there is one.
const period = data.minutes.length ? [data.minutes[0][0], data.minutes.at(-1)[0]] : undefined;
const find = (id) => document.getElementById(id);

// Makes an element of attributes and children.
function made(tag, attributes, ...children) {
  const vector = ["svg", "g", "rect", "title"].includes(tag);
  const element = vector ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== undefined && child !== ""));
  return element;
}
const said = (text) => made("span", { class: "said" }, text);
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
const cell = (label, text, name = "n") => made("td", { class: name, "data-label": label }, String(text));
const head = (...texts) => made("thead", null, made("tr", null, ...texts.map((text, index) => made("th", { scope: "col", class: index ? "n" : "" }, text))));
const beginning = (text) => {
  const line = text.split(/\s+/).filter(Boolean).join(" ");
  const letters = [...line];
  return letters.length > LINE ? letters.slice(0, LINE).join("") + "…" : line;
};
function share(count, all) {
  const percent = (count / Math.max(all, 1)) * 100;
  return `${percent.toFixed(count === 0 || percent >= 9.95 || count === all ? 0 : 1)} %`;
}
// Returns a time with two digits that say something.
const milliseconds = (time) => time.toFixed(time < 0.095 ? 2 : time < 9.95 ? 1 : 0);
// Returns a time in UTC; of one that no calendar has, nothing.
function at(second, options) {
  const time = new Date(second * 1000);
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleString("en-GB", { timeZone: "UTC", ...options });
}
const DATE = { day: "numeric", month: "short", year: "numeric" };
const MOMENT = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };

function overview() {
  const exact = { day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit" };
  const [from, to] = (period ?? []).map((minute) => at(minute * 60, exact));
  find("period").append(counted(numbers.records, "event") + (period ? ` from ${from} to ${to} UTC` : ""));
  find("period").append(data.remark);
  find("unreadable").hidden = !numbers.unreadable;
  find("unreadable").append(`${counted(numbers.unreadable, "line")} of the log can't be read`);
  const tile = (name, label, count) =>
    made("div", { class: name }, made("dt", null, label), made("dd", null, String(count), " ", made("small", null, share(count, numbers.records))));
  for (const word of WORDS) find("tiles").append(tile(word, DECISIONS[word], numbers.decisions[word] ?? 0));
  find("tiles").append(tile("open", "went on past a failure", numbers.failed_open));
}

// Adds up what minutes have, by stretches of so many minutes.
function stretches(minutes) {
  const sums = new Map();
  for (const [minute, counts] of data.minutes) {
    const place = Math.floor(minute / minutes);
    const sum = sums.get(place) ?? Object.fromEntries(WORDS.map((word) => [word, 0]));
    for (const word of WORDS) sum[word] += counts[word] ?? 0;
    sums.set(place, sum);
  }
  return sums;
}
const total = (counts) => WORDS.reduce((sum, word) => sum + counts[word], 0);

function chart() {
  if (!period) return;
  const DAY = 24 * 60;
  const [first, last] = period;
  const fits = (step) => Math.floor(last / step) - Math.floor(first / step) < 84;
  const steps = [1, 5, 15, 30, 60, 120, 180, 360, 720, DAY, 7 * DAY, 28 * DAY];
  const step = steps.find(fits) ?? (Math.floor((last - first) / 84 / DAY) + 1) * DAY;
  const start = Math.floor(first / step);
  const count = Math.max(Math.floor(last / step) - start + 1, 12);
  const bars = stretches(step);
  // The scale ends at the next number that reads well.
  const highest = Math.max(...[...bars.values()].map(total));
  const scale = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((unit) => [1, 2, 4, 6, 8].map((digit) => digit * unit)).find((number) => number >= highest) ?? highest;
  const [amount, unit] = step >= DAY ? [step / DAY, "day"] : step >= 60 ? [step / 60, "hour"] : [step, "minute"];
  const each = counted(amount, unit);
  const svg = made("svg", { role: "img", "aria-label": `events by decision, each bar ${each}`, viewBox: `0 0 ${count * 10} 100`, preserveAspectRatio: "none" });
  for (const [place, counts] of bars) {
    const told = WORDS.filter((word) => counts[word]).map((word) => `${counts[word]} ${DECISIONS[word]}`);
    const bar = made("g", null, made("title", null, `${at(place * step * 60, MOMENT)} UTC: ${told.join(", ")}`));
    const x = (place - start) * 10;
    let y = 100;
    for (const word of WORDS.filter((word) => counts[word])) {
      const height = (counts[word] * 100) / scale;
      y -= height;
      bar.append(made("rect", { class: word, x: x + 1, y, width: 8, height }));
    }
    // A small bar can be pointed at, too.
    bar.append(made("rect", { class: "reach", x, y: 0, width: 10, height: 100 }));
    svg.append(bar);
  }
  const days = made("div", { class: "days" });
  for (const [index, place] of [0, count / 4, count / 2, (count * 3) / 4, count - 1].entries()) {
    const when = at((start + Math.floor(place)) * step * 60, step < DAY ? MOMENT : DATE);
    days.append(made("span", { class: index % 2 ? "wide" : "" }, when));
  }
  const section = find("time");
  section.hidden = false;
  section.querySelector(".scale").append(...[scale, scale % 2 ? "" : scale / 2, 0].map((number) => made("span", null, String(number))));
  section.querySelector(".chart").append(svg, days);
  section.querySelector(".note").append(`Each bar is ${each}; times are UTC.`);
  const rows = [...stretches(DAY)].map(([day, counts]) =>
    made("tr", null, made("th", { scope: "row" }, at(day * DAY * 60, { weekday: "short", ...DATE })), ...WORDS.map((word) => cell(DECISIONS[word], counts[word]))));
  find("days").append(head("day", ...Object.values(DECISIONS)), made("tbody", null, ...rows));
}

const COUNTS = [
  ["ran", "events", (hook) => hook.ran, ""],
  ["deny", "denials", (hook) => hook.decisions.deny ?? 0, "deny"],
  ["ask", "questions", (hook) => hook.decisions.ask ?? 0, "ask"],
  ["allow", "permissions", (hook) => hook.decisions.allow ?? 0, "allow"],
  ["failed", "errors and failures", (hook) => hook.failed, "open"],
  ["went on", "failures after which the event went on", (hook) => hook.failed_open, "open"],
  ["would change", "verdicts that it would have made stricter, were it enforced", (hook) => hook.would_change, ""],
];

function hooks() {
  const counts = (count) => COUNTS.map(([label, , of, name]) => cell(label, count(of), count(of) ? `n ${name}` : "n zero"));
  // Below a hundredth of a millisecond all are alike.
  const log = (time) => Math.log10(Math.max(time, 0.01));
  const used = numbers.hooks.filter((hook) => hook.ran);
  const least = Math.min(...used.map((hook) => log(hook.p50_ms)));
  const most = Math.max(...used.map((hook) => log(hook.p99_ms)));
  const scale = Math.max(most - least, 0.01);
  const rows = used.map((hook) => {
    const [left, right] = [hook.p50_ms, hook.p99_ms].map((time) => ((log(time) - least) / scale) * 100);
    const width = Math.max(right - left, 1.5);
    const bar = made("i", { style: `left:${Math.min(left, 100 - width)}%;width:${width}%` });
    const mode = hook.mode === "enforce" ? "" : made("b", { class: "mode" }, hook.mode);
    return made("tr", null,
      made("th", { scope: "row" }, said(hook.name), " ", mode, made("small", null, hook.source)),
      ...counts((of) => of(hook)),
      cell("p50 ms", milliseconds(hook.p50_ms)), cell("p99 ms", milliseconds(hook.p99_ms)),
      made("td", { class: "range", "aria-hidden": "true" }, made("span", { class: "bar" }, bar)));
  });
  if (rows.length) {
    const labels = head("hook", ...COUNTS.map(([label]) => label), "p50 ms", "p99 ms");
    labels.querySelectorAll("th").forEach((label, index) => (label.title = COUNTS[index - 1]?.[1] ?? ""));
    labels.firstChild.append(made("td", { class: "range" }));
    const sums = counts((of) => numbers.hooks.reduce((sum, hook) => sum + of(hook), 0));
    const all = made("tr", null, made("th", { scope: "row" }, "all"), ...sums, made("td"), made("td"), made("td", { class: "range" }));
    find("hooks").append(labels, made("tbody", null, ...rows), made("tfoot", null, all));
    const span = `from ${milliseconds(10 ** least)} to ${milliseconds(10 ** (least + scale))} ms`;
    const bars = ` The bars go from the one to the other, on a logarithmic scale ${span}.`;
    find("speed").append("Half of a hook's runs took at most p50, 99 of 100 at most p99.", made("span", { class: "wide" }, bars));
  } else find("speed").append("No hook ran.");
  const unused = numbers.hooks.filter((hook) => !hook.ran);
  find("unused").hidden = !unused.length;
  find("never").append(...unused.map((hook) => made("li", null, said(hook.name), " ", made("small", null, hook.source))));
}

// Fills a table of texts, each with a count and its share of `all`.
function shares(id, what, rows, all) {
  const lines = rows.map(({ text, under, count }) =>
    made("tr", null,
      made("th", { scope: "row" }, said(text), under ? made("small", null, under) : ""),
      cell("events", count), cell("share", share(count, all)),
      made("td", { class: "bars", "aria-hidden": "true" }, made("span", { class: "bar" }, made("i", { style: `width:${(count / Math.max(all, 1)) * 100}%` })))));
  const labels = head(what, "events", "share");
  labels.firstChild.append(made("td", { class: "bars" }));
  find(id).append(labels, made("tbody", null, ...lines));
  find(id).parentElement.hidden = !rows.length;
}

function denials() {
  // Those that are as frequent stay in the order of the alphabet.
  const ranked = data.reasons.toSorted(([, one], [, other]) => other.events - one.events);
  const rows = ranked.slice(0, REASONS).map(([text, reason]) => ({ text: beginning(text), under: reason.hooks.join(", "), count: reason.events }));
  const rest = ranked.slice(REASONS).reduce((sum, [, reason]) => sum + reason.events, 0);
  if (rest) rows.push({ text: `${ranked.length - REASONS} other reasons`, count: rest });
  shares("denials", "reason", rows, rows.reduce((sum, row) => sum + row.count, 0));
}

function events() {
  const rows = Object.entries(numbers.events).map(([text, count]) => ({ text, count }));
  shares("events", "event", rows.toSorted((one, other) => other.count - one.count), numbers.records);
}

function record({ json, about, sources }) {
  const row = JSON.parse(json);
  const decision = row.decision ?? "none";
  const failed = row.hooks.some((hook) => hook.status === "error" || hook.status === "failed");
  const what = made("span", { class: "what" });
  if (row.message) what.append(said(beginning(row.message)), " ");
  if (about) what.append(made("code", null, beginning(about)));
  const event = made("span", { class: "event" }, row.event, row.tool ? " " : "", row.tool ? made("b", null, row.tool) : "");
  const ran = row.hooks.map((hook, index) =>
    made("tr", null,
      made("th", { scope: "row" }, said(hook.name), made("small", null, sources[index])),
      made("td", null, hook.status), made("td", null, hook.decision ?? ""),
      made("td", { class: "n" }, `${milliseconds(hook.duration_ms)} ms`),
      made("td", { class: "said" }, hook.reason ?? hook.error ?? "")));
  return made("details", { class: `record ${decision}${failed ? " open" : ""}` },
    made("summary", null,
      made("time", null, row.time.split(/[TZ.]/).slice(0, 2).join(" ")), " ",
      made("span", { class: `dot ${decision}` }, DECISIONS[decision]), " ", event, " ", what),
    ran.length ? made("table", { class: "ran" }, made("tbody", null, ...ran)) : "",
    made("pre", null, json));
}

overview();
chart();
hooks();
denials();
events();
const count = data.records.length;
const which = data.shown < numbers.records ? "event with an effect" : "event";
find("newest").append(count < data.shown ? `The newest ${count} of ${counted(data.shown, which)}` : `Every ${which}`);
find("records").append(...data.records.map(record));
