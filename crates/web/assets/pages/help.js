// Every action with its keys, from the keymap in force. Typing filters, Enter runs.

import { h } from "../dom.js";
import { List } from "./list.js";
import { isField } from "../keys.js";
import { attempt, letter, plain, presses } from "./shown.js";

// Actions that have no key in a browser; they are in the palette too.
const KEYLESS = [
  ["clear_notifications", "Clear All Notifications"],
  ["toggle_sidebar_agents", "Toggle Sidebar Agents"],
  ["close_project", "Close Project"],
  ["font_increase", "Increase Font Size"],
  ["font_decrease", "Decrease Font Size"],
  ["font_reset", "Reset Font Size"],
];

export function create(app, element) {
  const list = new List({
    title: "Keys",
    label: "Actions",
    hint: "typing filters  enter runs it  esc back",
    enterFromFilter: true,
    row: (one) => ({
      id: one.action,
      text: `${one.title} ${one.action} ${one.keys.join(" ")}`,
      cells: [h("span", { class: "title" }, one.title), h("span", { class: "help-keys" }, ...one.keys.map((key) => h("kbd", {}, key)))],
    }),
    open: (one) => run(one.action),
    buttons: (one) => (app.rights === "full" && !app.isPhone() ? [["Change…", () => void change(one)]] : []),
  });
  element.append(list.element);

  // A line of `config.conf` for browsers; what it changes comes back from the daemon.
  async function change({ action, title, keys }) {
    const said = await app.ask({
      title: `Key of ${title}`,
      lines: [keys.length ? `now ${keys.join(", ")}` : "now none", "as ctrl+alt+g, or prefix>g after the prefix"],
      yes: "Set",
      no: "Back",
      field: { label: "Chord" },
    });
    const bind = said?.text?.trim();
    if (bind && (await attempt(app, "rookery/view/settings", { bind, action }))) app.announce("changed");
  }

  function run(action) {
    if (action !== "help") app.back();
    app.act(action);
  }

  const fill = () => list.fill(rows(app));
  app.on("open", fill);
  app.on("scene", (parts) => parts.chosen && fill());
  return {
    show() {
      fill();
      list.filter.value = "";
      if (!app.isPhone()) list.filter.focus();
    },
    update() {},
    // In the help letters filter; only arrows move.
    key(event) {
      if (isField(event.target) || presses(event)) return false;
      const typed = letter(event);
      if (typed && typed !== "/") {
        list.filter.focus();
        list.filter.value += typed;
        list.filter.dispatchEvent(new Event("input"));
        return true;
      }
      return list.key(event);
    },
    hide() {},
  };
}

function rows(app) {
  const known = new Map();
  const prefix = app.settings?.prefix ?? "prefix";
  for (const [trigger, action, title] of app.keys ?? []) {
    const row = known.get(action) ?? { action, title: plain(title), keys: [] };
    row.keys.push(plain(trigger.replace(/^prefix>/, `${prefix} `)));
    known.set(action, row);
  }
  for (const [action, title] of KEYLESS) if (!known.has(action)) known.set(action, { action, title, keys: [] });
  // What has keys comes first.
  return [...known.values()].sort((a, b) => Number(a.keys.length === 0) - Number(b.keys.length === 0));
}
