// A thread that is begun: project, model, mode and what it shall do. It lies over whichever page is
// shown, keeps its draft, and begins nothing before the person sends it.

import { button, clear, h } from "../dom.js";
import { Composer } from "./composer.js";
import { NO_ANSWER } from "../link.js";
import { failure, plain, words } from "./shown.js";

const MODES = ["default", "plan", "accept_all", "bypass"];
/** In place of the id of a project: a directory that is none. */
const ELSEWHERE = "elsewhere";

let open = null;

/** Shows `#new-thread`, with the keyboard in its text. */
export function newThread(app, project) {
  if (app.rights === "look") return app.toast("warn", "this device is read-only");
  open ??= new NewThread(app);
  open.show(project);
}

class NewThread {
  #app;
  #before = null;

  constructor(app) {
    this.#app = app;
    this.project = h("select", { class: "field", id: "new-thread-project", on: { change: () => this.#drawDirectory(true) } });
    this.cwd = h("input", {
      type: "text",
      class: "field",
      id: "new-thread-cwd",
      placeholder: "/path/of/a/directory",
      autocomplete: "off",
      spellcheck: false,
    });
    this.cwd.setAttribute("autocapitalize", "none");
    this.model = h("select", { class: "field", id: "new-thread-model" });
    this.mode = h("select", { class: "field", id: "new-thread-mode" }, ...MODES.map((mode) => h("option", { value: mode }, words(mode))));
    this.composer = new Composer(app, {
      id: "new-thread-text",
      label: "Task",
      placeholder: "What should it do?",
      send: (message) => this.#send(message),
      escape: () => this.hide(),
      changed: () => {
        this.start.disabled = this.composer.isEmpty;
      },
    });
    // The first message has no images: a thread takes them once it is there.
    this.composer.attach.remove();
    this.composer.files.remove();
    this.start = button("Start", () => void this.composer.send(), { class: "button primary", id: "new-thread-start" });
    const label = (field, text) => h("label", { for: field.id }, h("span", { class: "dim" }, text), field);
    this.directory = label(this.cwd, "Directory");
    this.directory.className = "new-thread-directory";
    // Messages at the edge lie below a dialog.
    this.note = h("p", { class: "new-thread-note", role: "alert" });
    this.element = h(
      "dialog",
      {
        id: "new-thread",
        class: "dialog-sheet",
        aria: { label: "New thread" },
        on: { close: () => this.#closed(), keydown: (event) => event.stopPropagation() },
      },
      h("h2", {}, "New thread"),
      h("div", { class: "new-thread-row" }, label(this.project, "Project"), label(this.model, "Model"), label(this.mode, "Mode")),
      this.directory,
      this.composer.element,
      this.note,
      h(
        "div",
        { class: "sheet-buttons" },
        button("Cancel", () => this.hide()),
        h("span", { class: "spring" }),
        this.start,
      ),
    );
    document.body.append(this.element);
  }

  show(project) {
    this.#before = document.activeElement;
    this.#fillProjects(project);
    void this.#fillModels();
    this.note.textContent = "";
    this.composer.begin("thread:new");
    this.start.disabled = this.composer.isEmpty;
    if (!this.element.open) this.element.showModal();
    this.composer.focus();
  }

  hide() {
    this.element.close();
  }

  // The browser has given the keyboard back already, and by now the person may have gone on with it.
  #closed() {
    const active = document.activeElement;
    if (active && active !== document.body && !this.element.contains(active)) return;
    if (this.#before?.isConnected) this.#before.focus({ preventScroll: true });
    else this.#app.focus();
  }

  #fillProjects(wanted) {
    const projects = this.#app.scene?.sidebar?.projects ?? [];
    const active = projects.find((project) => project.id === wanted) ?? projects.find((project) => project.active) ?? projects[0];
    const named = projects.map((project) => h("option", { value: String(project.id) }, plain(project.name)));
    clear(this.project).append(...named, h("option", { value: ELSEWHERE }, projects.length ? "another directory…" : "a directory…"));
    this.project.value = active ? String(active.id) : ELSEWHERE;
    this.#drawDirectory();
  }

  #drawDirectory(isChosen = false) {
    this.directory.hidden = this.project.value !== ELSEWHERE;
    if (isChosen && !this.directory.hidden) this.cwd.focus();
  }

  async #fillModels() {
    const now = this.model.value;
    const found = await this.#app.call("rookery/view/thread/models", {}).catch(() => null);
    const names = (found?.models ?? []).map(({ provider, model }) => `${provider}/${model}`);
    clear(this.model).append(h("option", { value: "" }, "as configured"), ...names.map((name) => h("option", { value: name }, plain(name))));
    this.model.value = names.includes(now) ? now : "";
  }

  async #send({ text }) {
    const cwd = this.cwd.value.trim();
    const isElsewhere = this.project.value === ELSEWHERE;
    if (isElsewhere && cwd === "") {
      this.cwd.focus();
      this.note.textContent = "In which directory?";
      return false;
    }
    const params = isElsewhere ? { cwd, text } : { project: Number(this.project.value), text };
    const [provider, ...model] = this.model.value.split("/");
    if (model.length) Object.assign(params, { provider, model: model.join("/") });
    if (this.mode.value !== "default") params.mode = this.mode.value;
    this.start.disabled = true;
    this.note.textContent = "";
    try {
      const made = await this.#app.call("rookery/view/thread/new", params);
      this.hide();
      void this.#app.go({ page: "thread", thread: made.thread });
      return true;
    } catch (error) {
      this.start.disabled = false;
      this.note.textContent = error?.code === NO_ANSWER ? "the thread may have begun: look among the threads before you start it again" : failure(error);
      return false;
    }
  }
}
