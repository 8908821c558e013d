// The sidebar: projects, below each its agents and threads, those that wait first. Projects are moved by
// dragging; a filter comes with `/`.

import { add, attr, h, keyed, mood, setMood, text } from "./dom.js";

const WIDTHS = [150, 480];

/** Projects and what runs in them. */
export class Sidebar {
  constructor(app) {
    this.app = app;
    this.element = document.getElementById("sidebar");
    this.count = h("span", { class: "count", hidden: true });
    this.list = h("div", { class: "projects" });
    this.create = h("button", { type: "button", class: "new-project", on: { click: () => app.press(() => app.act("new_project")) } }, "+ New Project");
    this.edge = h("div", { class: "edge", aria: { hidden: "true" } });
    this.filter = h("input", { type: "search", class: "field filter", placeholder: "Filter", autocomplete: "off", spellcheck: false, hidden: true, aria: { label: "Filter projects and agents" } });
    this.filter.addEventListener("input", () => this.sift());
    this.filter.addEventListener("keydown", (event) => this.filterKey(event));
    this.element.addEventListener("focusout", (event) => this.element.contains(event.relatedTarget) || this.endFilter());
    add(this.element, [h("div", { class: "side-head" }, h("span", {}, "PROJECTS"), this.filter, this.count), this.list, h("div", { class: "side-foot" }, this.create), this.edge]);
    this.element.addEventListener("keydown", (event) => this.key(event));
    // A click leaves the keyboard where it is: with the program.
    this.element.addEventListener("mousedown", (event) => event.target.tagName !== "INPUT" && event.preventDefault());
    this.edge.addEventListener("pointerdown", (event) => this.drag(event));
    this.width = null;
    app.on("prefs", () => this.place());
  }

  update(scene) {
    if (scene.sidebar === undefined && scene.page === undefined && scene.panes === undefined) return;
    const { sidebar, page, panes, status } = this.app.scene;
    if (!sidebar) return;
    document.documentElement.toggleAttribute("data-collapsed", sidebar.collapsed);
    this.place();
    const waiting = status?.waiting ?? sidebar.projects.reduce((sum, project) => sum + project.waiting, 0);
    this.count.hidden = waiting === 0;
    text(this.count, String(waiting));
    const here = page?.page === "thread" ? page.thread : page?.page === "workspace" ? (panes?.focused ?? null) : null;
    keyed(this.list, sidebar.projects, (project) => project.id, () => this.makeProject(), (element, project, index) => this.fillProject(element, project, index, here));
    this.sift();
  }

  /** Shows what the filter is read in: agents by their own words or their project's. */
  sift() {
    const words = this.filter.value.trim().toLowerCase();
    const reads = (...texts) => texts.some((one) => one?.toLowerCase().includes(words));
    for (const group of this.list.children) {
      const [{ project }, agents] = group.children;
      const isFound = reads(project.name, project.root, project.branch);
      for (const row of agents.children) row.hidden = !isFound && !reads(row.agent.name, row.agent.status);
      group.hidden = !isFound && ![...agents.children].some((row) => !row.hidden);
    }
    const rows = this.rows();
    if (!rows.some((row) => row.tabIndex === 0) && rows[0]) rows[0].tabIndex = 0;
  }

  filterKey(event) {
    if (event.isComposing || !["Escape", "Enter", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    this.rows()[0]?.focus();
    if (event.key === "Escape") this.endFilter();
  }

  /** It lasts while the keyboard is here. */
  endFilter() {
    if (this.filter.hidden) return;
    this.filter.hidden = true;
    this.filter.value = "";
    this.sift();
  }

  /** As wide as the person made it, on whichever page of this device; else as the daemon has it. */
  place() {
    const usual = this.app.scene.sidebar?.width > 60 ? this.app.scene.sidebar.width : 220;
    const width = this.width ?? (Number(this.app.prefs.get("sidebar")) || usual);
    document.documentElement.style.setProperty("--side", `${within(width)}px`);
  }

  makeProject() {
    const row = h("div", { class: "project", role: "link", tabIndex: -1 });
    const element = h("div", { class: "project-group" }, row, h("div", { class: "agents" }));
    row.parts = { name: h("span", { class: "name" }), branch: h("span", { class: "branch" }), waits: h("span", { class: "waits" }), mood: mood("quiet") };
    row.append(row.parts.name, row.parts.branch, row.parts.waits, row.parts.mood);
    row.addEventListener("click", () => row.isDragged || this.openProject(row));
    row.addEventListener("pointerdown", (event) => this.grab(row, event));
    row.addEventListener("dblclick", () => this.app.act("rename_project"));
    row.addEventListener("contextmenu", (event) => this.menu(row, event));
    return element;
  }

  fillProject(element, project, index, here) {
    const row = element.firstElementChild;
    row.index = index;
    row.project = project;
    attr(row, "data-project", project.id);
    attr(row, "data-mood", project.mood);
    attr(row, "data-active", project.active ? "" : null);
    attr(row, "aria-current", project.active ? "true" : null);
    text(row.parts.name, project.name || project.root);
    text(row.parts.branch, project.branch ?? "");
    text(row.parts.waits, project.waiting > 0 ? String(project.waiting) : "");
    attr(row.parts.waits, "aria-label", project.waiting > 0 ? `${project.waiting} waiting` : null);
    setMood(row.parts.mood, project.mood);
    row.title = project.root;
    row.toggleAttribute("data-badge", project.badge === true);
    this.app.overlay.rename(row, project.rename ?? null);
    const agents = [...project.agents].sort((a, b) => Number(b.waiting > 0) - Number(a.waiting > 0));
    keyed(element.lastElementChild, agents, (agent) => agent.thread ?? `t${agent.terminal}`, () => this.makeAgent(), (line, agent) => this.fillAgent(line, agent, here));
  }

  makeAgent() {
    const row = h("div", { class: "agent", role: "link", tabIndex: -1 });
    row.parts = { mood: mood("quiet"), name: h("span", { class: "name" }), changes: h("span", { class: "changes" }), age: h("span", { class: "age" }) };
    row.append(row.parts.mood, row.parts.name, row.parts.changes, row.parts.age);
    row.addEventListener("click", () => this.openAgent(row));
    return row;
  }

  fillAgent(row, agent, here) {
    row.agent = agent;
    attr(row, "data-agent", agent.thread ? null : agent.terminal);
    attr(row, "data-thread", agent.thread ?? null);
    attr(row, "data-mood", agent.mood);
    const isHere = here !== null && (agent.thread ? here === agent.thread : here === agent.terminal);
    attr(row, "aria-current", isHere ? "page" : null);
    setMood(row.parts.mood, agent.mood);
    text(row.parts.name, agent.name);
    text(row.parts.changes, agent.changes ? `+${agent.changes}` : "");
    row.title = agent.status ? `${agent.name}: ${agent.status}` : agent.name;
    this.app.ages(row.parts.age, agent.at);
  }

  openProject(row) {
    if (row.index < 9 && this.app.rights === "full") this.app.act(`switch_project_${row.index + 1}`);
    else {
      const first = row.project.agents.find((agent) => agent.terminal || agent.thread);
      if (first) this.openAgent({ agent: first });
    }
    this.app.closeDrawer?.();
  }

  openAgent({ agent }) {
    if (agent.thread) this.app.go({ page: "thread", thread: agent.thread });
    else if (agent.terminal) this.app.go({ page: "workspace", terminal: agent.terminal }).then(() => this.app.focus(true));
    this.app.closeDrawer?.();
  }

  menu(row, event) {
    event.preventDefault();
    const { app } = this;
    const isFull = app.rights === "full";
    const here = async (action) => {
      this.openProject(row);
      app.act(action);
    };
    app.overlay.menu(event.clientX, event.clientY, [
      ["New tab", () => here("new_tab"), !isFull],
      ["New thread", () => here("new_thread"), app.rights === "look"],
      ["Rename", () => here("rename_project"), !isFull],
      null,
      ["Close project", () => here("close_project"), !isFull],
    ]);
  }

  rows() {
    return [...this.element.querySelectorAll(".project, .agent, .new-project")].filter((row) => !row.hidden && !row.parentElement.hidden);
  }

  /** The keyboard goes into the sidebar, to the project that is shown. */
  focus() {
    if (this.app.scene.sidebar?.collapsed) this.app.act("toggle_sidebar");
    const row = this.element.querySelector(".project[data-active]") ?? this.rows()[0];
    row?.focus();
  }

  key(event) {
    if (event.target.tagName === "INPUT" || event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = this.rows();
    const at = rows.indexOf(document.activeElement);
    const page = 10;
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, g: 0, End: rows.length - 1, G: rows.length - 1, PageDown: at + page, PageUp: at - page }[event.key];
    const row = rows[at];
    if (to !== undefined) {
      const next = rows[Math.max(0, Math.min(rows.length - 1, to))];
      for (const other of rows) other.tabIndex = other === next ? 0 : -1;
      next.focus();
    } else if (event.key === "Enter" && row?.project) this.openProject(row);
    else if (event.key === "Enter" && row?.agent) this.openAgent(row);
    else if (event.key === "Enter") return;
    else if (/^[1-9]$/.test(event.key)) this.app.act(`switch_project_${event.key}`);
    else if (event.key === "/") {
      this.filter.hidden = false;
      this.filter.focus();
    } else if (event.key === "n") this.app.act("new_project");
    else if (event.key === "r") this.app.act("rename_project");
    else if (event.key === "q") this.app.focus(true);
    else return;
    event.preventDefault();
    if (event.key === "Enter") this.app.focus(true);
  }

  /** A project is dragged to another place; a finger scrolls instead. */
  grab(row, event) {
    row.isDragged = false;
    if (event.button !== 0 || event.pointerType === "touch" || event.target.tagName === "INPUT" || this.app.rights !== "full") return;
    const group = row.parentElement;
    const move = ({ clientY }) => {
      if (Math.abs(clientY - event.clientY) < 8 && !row.isDragged) return;
      row.isDragged = true;
      group.classList.add("dragged");
      group.style.setProperty("transform", `translateY(${clientY - event.clientY}px)`);
    };
    const ends = ["pointerup", "pointercancel"];
    const end = (now) => {
      window.removeEventListener("pointermove", move);
      for (const name of ends) window.removeEventListener(name, end);
      group.classList.remove("dragged");
      group.style.removeProperty("transform");
      if (row.isDragged && now.type === "pointerup") this.drop(group, now.clientY);
    };
    window.addEventListener("pointermove", move);
    for (const name of ends) window.addEventListener(name, end);
  }

  drop(group, y) {
    const others = [...this.list.children].filter((other) => other !== group);
    const isAbove = (other) => {
      const { top, height } = other.getBoundingClientRect();
      return !other.hidden && top + height / 2 < y;
    };
    const last = others.findLastIndex(isAbove);
    others.splice(last + 1, 0, group);
    const projects = others.map((other) => other.firstElementChild.project.id);
    const before = this.app.scene.sidebar.projects.map(({ id }) => id);
    if (projects.join() !== before.join()) this.app.call("rookery/projects/reorder", { projects }).catch(this.app.complain);
  }

  drag(event) {
    event.preventDefault();
    this.edge.setPointerCapture(event.pointerId);
    const { left } = this.element.getBoundingClientRect();
    const move = (now) => {
      this.width = within(Math.round(now.clientX - left));
      this.place();
    };
    this.edge.addEventListener("pointermove", move);
    this.edge.addEventListener("pointerup", () => {
      this.edge.removeEventListener("pointermove", move);
      if (this.width !== null) this.app.prefs.set("sidebar", this.width);
      this.width = null;
    }, { once: true });
  }
}

function within(width) {
  return Math.max(WIDTHS[0], Math.min(WIDTHS[1], width));
}
