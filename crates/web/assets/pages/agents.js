// The phone's list of sessions: projects, below each its agents and threads, those that wait first. What
// the sidebar shows in a wide window.

import { button, h, keyed } from "../dom.js";
import { plain } from "./shown.js";
import { newThread } from "./thread_new.js";

export function create(app, element) {
  const list = h("div", { class: "agents-list" });
  const empty = h("p", { class: "none" }, "No project is open.");
  const add = button("+ New session", () => newThread(app), { class: "button" });
  element.append(
    h(
      "div",
      { class: "list-page" },
      h("div", { class: "page-head" }, h("h1", {}, "Agents"), h("span", { class: "spring" }), add),
      h("div", { class: "agents-scroll" }, list, empty),
    ),
  );

  let terminals = [];
  let asked = 0;

  // The strip has the tabs of one project; those of all are asked for.
  async function load() {
    const turn = ++asked;
    const found = await app.call("rookery/terminals/list", {}).catch(() => null);
    if (!found || turn !== asked) return;
    terminals = found.terminals ?? [];
    draw();
  }

  function draw() {
    const projects = app.scene?.sidebar?.projects ?? [];
    empty.hidden = projects.length > 0;
    add.hidden = app.rights === "look";
    keyed(
      list,
      projects,
      (project) => JSON.stringify([project, tabsOf(terminals, project)]),
      (project) => section(app, project, terminals),
    );
  }

  return {
    show() {
      draw();
      void load();
    },
    update(parts) {
      if (parts.sidebar || parts.strip) void load().then(draw);
    },
    key: () => false,
    hide() {},
  };
}

// Terminals without an agent are sessions too.
function tabsOf(terminals, project) {
  const known = new Set(project.agents.map((agent) => agent.terminal));
  const own = terminals.filter((one) => one.project === project.id && !known.has(one.id));
  return own.map((one) => ({ terminal: one.id, name: one.title || one.argv?.[0], mood: "quiet", status: "", at: 0, waiting: 0 }));
}

function section(app, project, terminals) {
  const rows = [...project.agents, ...tabsOf(terminals, project)];
  const name = plain(project.name) || plain(project.root);
  const waits = project.waiting ? h("span", { class: "chip" }, `${project.waiting} wait${project.waiting === 1 ? "s" : ""}`) : "";
  const head = h("h2", { class: "agents-project", title: plain(project.root) }, name, " ", project.branch ? h("span", { class: "dim" }, plain(project.branch)) : "", waits);
  const made = rows.length ? h("ul", { class: "rows-list", role: "list", aria: { label: `Sessions of ${name}` } }, ...rows.map((agent) => row(app, agent))) : h("p", { class: "none" }, "Nothing runs here.");
  return h("section", { data: { project: project.id }, aria: { label: name } }, head, made);
}

function row(app, agent) {
  const age = h("time", { class: "age dim" });
  if (agent.at) app.ages(age, agent.at);
  const place = agent.thread ? { page: "thread", thread: agent.thread } : { page: "workspace", terminal: agent.terminal };
  const words = agent.waiting ? "waits" : plain(agent.status);
  const main = h(
    "button",
    { type: "button", class: "row-main", on: { click: () => void app.go(place) } },
    app.mood(agent.mood),
    h("span", { class: "title" }, plain(agent.name)),
    h("span", { class: "dim" }, words),
    age,
  );
  const data = { mood: agent.mood };
  if (agent.thread) data.thread = agent.thread;
  else data.agent = agent.terminal;
  return h("li", { class: "entry", role: "listitem", data }, main);
}
