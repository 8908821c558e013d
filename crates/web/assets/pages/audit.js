// The record of decisions: who decided what, by which rule, and when. Filtered here, word by word; older
// ones are asked for.

import { button, h } from "../dom.js";
import { List, listPage } from "./list.js";
import { attempt, plain, when, words } from "./shown.js";

const COUNT = 500;
const GOOD = new Set(["allowed", "auto_approved", "approved"]);

export function create(app, element) {
  let decisions = [];
  let before = null;
  const list = new List({
    title: "Audit",
    label: "Decisions",
    empty: "Nothing was decided yet.",
    hint: "/ filter  enter all of it  esc back",
    row: (one) => ({
      id: String(one.number),
      text: [one.at, one.verdict, one.by, one.tool, one.subject, one.rule, one.reason, one.mode].join(" "),
      cells: cells(one),
    }),
    open: (one) => void show(one),
  });
  const more = button("Older decisions", () => void load(true), { class: "button older" });
  list.list.after(more);

  async function load(isMore = false) {
    list.busy(true);
    const found = await attempt(app, "rookery/audit/list", isMore && before ? { limit: COUNT, before } : { limit: COUNT });
    const page = [...(found?.decisions ?? [])].reverse();
    decisions = isMore ? [...decisions, ...page] : page;
    before = found?.before ?? null;
    more.hidden = !before;
    list.fill(decisions);
  }

  function show(one) {
    const facts = [
      ["when", when(one.at)],
      ["verdict", words(one.verdict)],
      ["by", one.by],
      ["rule", one.rule],
      ["reason", one.reason],
      ["mode", one.mode && words(one.mode)],
      ["wanted by", one.source],
      ["tool", one.tool],
      ["thread", one.thread],
      ["request", one.request],
      ["process", one.decider && [one.decider.program, one.decider.pid].filter(Boolean).join(" ")],
    ];
    const lines = facts.filter(([, value]) => value).map(([name, value]) => `${name}: ${plain(value)}`);
    void app.ask({ title: `Decision ${one.number}`, lines: [...lines, plain(one.subject)], yes: null, no: "Close" });
  }

  return listPage(element, list, () => void load());
}

function cells(one) {
  const verdict = GOOD.has(one.verdict) ? "plus" : one.verdict === "denied" ? "minus" : "dim";
  return [
    h("time", { class: "dim" }, when(one.at)),
    h("span", { class: verdict }, words(one.verdict)),
    h("span", { class: "dim" }, words(one.by)),
    h("span", {}, plain(one.tool)),
    h("span", { class: "title" }, plain(one.subject)),
  ];
}
