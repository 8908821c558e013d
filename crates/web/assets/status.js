// The line below everything: the prefix, what waits, the last message, whose size the terminal has, and
// what this device may do.

import { text } from "./dom.js";

const MESSAGE_MS = 8000;

/** The status line. */
export class Status {
  constructor(app) {
    this.app = app;
    const of = (id) => document.getElementById(id);
    this.parts = { hint: of("prefix-hint"), waiting: of("waiting"), message: of("message"), place: of("place"), owner: of("owner"), fit: of("fit"), rights: of("rights") };
    this.parts.hint.addEventListener("click", () => app.keyboard.setPrefixed(!app.keyboard.isPrefixed));
    this.parts.waiting.addEventListener("click", () => app.act("open_inbox"));
    this.parts.fit.addEventListener("click", () => app.press(() => app.setFit("own")));
  }

  update(scene) {
    const { app, parts } = this;
    const prefix = app.settings.prefix;
    parts.hint.hidden = !prefix;
    text(parts.hint, prefix ? `${prefix} keys` : "");
    const waiting = app.scene.status?.waiting ?? 0;
    parts.waiting.hidden = waiting === 0;
    text(parts.waiting, `${waiting} wait`);
    text(parts.rights, [app.rights, app.deviceName].filter(Boolean).join(" · "));
    if (scene.status?.message) this.show(scene.status.message.tone, scene.status.message.text);
    if (scene.status?.readOnly) this.show("warn", "read-only");
    const project = app.scene.sidebar?.projects.find((one) => one.active);
    text(parts.place, project ? [project.name, project.root].filter(Boolean).join("  ") : "");
  }

  message(tone, words) {
    this.show(tone, words);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show("info", ""), MESSAGE_MS);
  }

  show(tone, words) {
    this.parts.message.dataset.tone = tone;
    text(this.parts.message, words);
  }

  /** `80×24 by laptop window`, and the button that fits the terminal to this screen. */
  paintOwner() {
    const { app, parts } = this;
    const term = app.word() === "workspace" ? app.term(app.terminal) : null;
    const size = term ? `${term.size[1]}×${term.size[0]}` : "";
    const by = !term?.owner ? "" : term.owner.mine ? " mine" : ` by ${term.owner.name}`;
    text(parts.owner, `${size}${by}`);
    parts.fit.hidden = !term || app.rights !== "full" || term.owner?.mine === true;
  }
}
