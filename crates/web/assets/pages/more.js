// The phone's list of everything else.

import { button, h } from "../dom.js";
import { newThread } from "./thread_new.js";

export function create(app, element) {
  const go = (page) => () => void app.go({ page });
  const rows = [
    ["Terminal", go("workspace")],
    ["New thread", () => newThread(app)],
    ["Reviews", go("reviews")],
    ["Checkpoints", go("checkpoints")],
    ["Worktrees", go("worktrees")],
    ["Audit", go("audit")],
    ["Commands", () => app.act("command_palette")],
    ["Settings", go("settings")],
    ["Keys", go("help")],
  ];
  const list = h(
    "ul",
    { class: "rows-list", role: "list", aria: { label: "More" } },
    ...rows.map(([label, run]) => h("li", { class: "entry", role: "listitem" }, button(label, run, { class: "row-main" }))),
  );
  element.append(h("div", { class: "list-page" }, h("div", { class: "page-head" }, h("h1", {}, "More")), list));
  return { show() {}, update() {}, key: () => false, hide() {} };
}
