// Settings: those of this device are changed here and seen at once; those of all faces are lines of one
// file, which is named. Themes and fonts are previewed while the person moves through them.

import { button, clear, h } from "../dom.js";
import { forget } from "../kept.js";
import { failure, moved, plain, presses, words } from "./shown.js";

/** Keys of `config.conf` that faces heed: key, name, member of the settings, what may stand there. */
const LINES = [
  ["prefix", "Prefix", "prefix", "a chord, or off"],
  ["key-preset", "Key preset", "keyPreset", ["default", "tmux"]],
  ["answer-guard-ms", "Guard", "guard", "milliseconds for which a new card takes no answer"],
  ["confirm-close", "Confirm close", "confirmClose", ["busy", "always", "never"]],
  ["paste-warning", "Paste warning", "pasteWarning", ["multiline", "always", "never"]],
  ["copy-on-select", "Copy on select", "copyOnSelect", ["off", "selection", "clipboard"]],
  ["link-modifier", "Open links with", "linkModifier", ["ctrl", "alt", "super"]],
  ["wheel-rows", "Rows of the wheel", "wheelRows", "a number"],
  ["tui-colors", "Colors of the TUI", "colors", ["auto", "theme", "terminal", "none"]],
  ["tui-mouse", "Mouse of the TUI", "mouse", ["on", "off"]],
  ["tui-notify", "Notices of the TUI", "notify", ["osc", "bell", "off"]],
];
/** The daemon is older than the method. */
const UNKNOWN_METHOD = -32601;

export function create(app, element) {
  return new Settings(app, element);
}

class Settings {
  #app;
  #told = "";

  constructor(app, element) {
    this.#app = app;
    this.here = h("ul", { class: "rows-list settings-list", role: "list", aria: { label: "This device" } });
    this.all = h("ul", { class: "rows-list settings-list", role: "list", aria: { label: "All faces" } });
    this.device = h("div", { class: "device" });
    element.append(
      h(
        "div",
        { class: "list-page settings-page" },
        h("div", { class: "page-head" }, h("h1", {}, "Settings")),
        h(
          "div",
          { class: "settings-scroll" },
          h("h2", {}, "Look"),
          this.here,
          h("h2", {}, "All faces"),
          h("p", { class: "dim" }, "Lines of ", h("code", {}, "config.conf"), ", for example ", h("code", {}, "answer-guard-ms = 400"), "."),
          this.all,
          h("h2", {}, "This device"),
          this.device,
        ),
        h("p", { class: "page-hint hint" }, "j/k move  enter change  esc back"),
      ),
    );
    app.on("open", () => this.#draw());
  }

  show() {
    this.#draw();
  }

  update(parts) {
    // Rows are made anew only if they say something else: a slider that is held would be lost.
    if (parts.theme || parts.chosen) this.#draw();
    else if (parts.status) this.#drawDevice();
  }

  hide() {}

  #draw() {
    const { settings = {}, scene } = this.#app;
    // What has the keyboard keeps it.
    const focused = [this.here, this.all, this.device].some((part) => part.contains(document.activeElement)) ? document.activeElement.id : "";
    clear(this.here).append(
      this.#row("Theme", plain(scene?.theme?.name ?? settings.theme), this.#palette("Choose theme…", "themes", "set-theme")),
      this.#row("Font", plain(settings.font?.family) || "built in", this.#palette("Choose font…", "fonts", "set-font")),
      this.#row("Size", "", this.#size()),
      this.#row("Read output", "", this.#check("read-output", "read-output", "New lines of the terminal are announced to screen readers")),
      this.#row("Notifications", "", this.#notify()),
      this.#row(
        "Keys",
        "",
        button("Show and change keys", () => void this.#app.go({ page: "help" }), { id: "set-keys" }),
      ),
    );
    const row = (line) => this.#row(line[1], plain(this.#now(line[2])), this.#line(line));
    clear(this.all).append(...LINES.map(row));
    this.#drawDevice();
    if (focused) document.getElementById(focused)?.focus();
  }

  #now(member) {
    const now = this.#app.settings?.[member] ?? "off";
    return typeof now === "boolean" ? (now ? "on" : "off") : String(now);
  }

  #row(name, value, control) {
    return h(
      "li",
      { class: "entry setting", role: "listitem" },
      h("span", { class: "setting-name" }, name),
      h("span", { class: "setting-value" }, value),
      h("span", { class: "setting-control" }, control),
    );
  }

  #line([key, name, member, may]) {
    const about = h("span", { class: "dim" }, h("code", {}, key), ` ${Array.isArray(may) ? may.join(", ") : may}`);
    if (this.#app.rights !== "full") return about;
    return h(
      "span",
      { class: "setting-line" },
      button("Change…", () => void this.#change(key, name, member, may), { id: `set-${key}`, class: "button small" }),
      about,
    );
  }

  // One line of the user's file, which says `true` for the selection; what it changes comes back from the daemon.
  async #change(key, name, member, may) {
    const now = this.#now(member);
    const asked = Array.isArray(may) ? { choices: may.map((word, at) => [String(at + 1), word]) } : { field: { label: name, value: now }, yes: "Set" };
    const said = await this.#app.ask({ title: name, lines: [`${key} = ${now}`], no: "Back", ...asked });
    const value = said?.choice ?? said?.text?.trim();
    if (!value) return;
    try {
      const written = value === "selection" ? "true" : value;
      await this.#app.call("rookery/view/settings", { set: key, value: written });
      const kind = typeof this.#app.settings[member];
      this.#app.settings = { ...this.#app.settings, [member]: kind === "number" ? Number(value) : kind === "boolean" ? value === "on" : value };
      this.#draw();
    } catch (error) {
      if (error?.code === UNKNOWN_METHOD) this.#app.toast("info", `write \`${key} = ${value}\` into config.conf`);
      else this.#app.toast("error", failure(error));
    }
  }

  // The palette shows each while the person moves, and takes it back on Esc.
  #palette(label, kind, id) {
    const open = () => void this.#app.call("rookery/view/palette", { open: kind }).catch((error) => this.#app.toast("error", failure(error)));
    return button(label, open, { id, disabled: this.#app.rights !== "full" });
  }

  #size() {
    const size = this.#app.fontSize?.() ?? 13;
    const shown = h("output", { class: "setting-value" }, `${size} px`);
    const slider = h("input", { type: "range", id: "set-size", min: "6", max: "24", step: "1", aria: { label: "Font size" } });
    slider.value = String(size);
    slider.addEventListener("input", () => {
      shown.textContent = `${slider.value} px`;
      this.#app.setFontSize?.(Number(slider.value));
    });
    return h("span", { class: "slider" }, slider, shown);
  }

  #check(id, pref, label) {
    const box = h("input", { type: "checkbox", id, aria: { label: id === "read-output" ? "Read output" : label } });
    box.checked = this.#app.prefs.local.get(pref, false) === true;
    box.addEventListener("change", () => {
      this.#app.prefs.local.set(pref, box.checked);
      this.#app.readOutput?.(box.checked);
    });
    return h("label", { class: "check" }, box, h("span", { class: "dim" }, label));
  }

  #notify() {
    const state = this.#app.notifications?.state() ?? "missing";
    const texts = {
      granted: "on: they open the card while this page is kept running, minutes on a phone",
      denied: "the browser was told not to show them; its site settings change that",
      insecure: "notifications, offline start and copying by script need https or localhost; docs/remote.md says how",
      missing: "this browser has none",
    };
    if (texts[state]) return h("span", { class: "dim" }, texts[state]);
    return button("Turn on", () => void this.#app.notifications.ask().then(() => this.#draw()), { id: "set-notify" });
  }

  #drawDevice() {
    const { scene, rights, daemon } = this.#app;
    const may = { full: "everything", decide: "look, answer and converse", look: "look only" }[rights] ?? rights;
    const facts = [
      ["Rights", may],
      ["Served at", plain(scene?.status?.web) || location.origin],
      ["Daemon", plain([daemon?.version, daemon?.build].filter(Boolean).join(" ")) || "–"],
      ["Mode", words(scene?.status?.mode)],
    ];
    const others = (scene?.status?.viewers ?? []).map((viewer) => `${plain(viewer.name) || "unnamed"} (${plain(viewer.face)}${viewer.isDesk ? ", desk" : ""})`);
    if (others.length) facts.push(["Viewers", others.join(", ")]);
    const told = JSON.stringify(facts);
    if (told === this.#told) return;
    this.#told = told;
    const hadFocus = this.device.contains(document.activeElement);
    clear(this.device).append(
      h("dl", { class: "surroundings" }, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
      h("p", { class: "dim" }, "Another device is paired with ", h("code", {}, "rookery web --pair"), " on the machine of the daemon."),
      button("Log this device out…", () => void this.#logout(), { id: "logout", class: "button danger" }),
    );
    if (hadFocus) document.getElementById("logout").focus();
  }

  async #logout() {
    const sure = await this.#app.ask({
      title: "Log this device out?",
      lines: ["It must be paired again to come back."],
      yes: "Log out",
      no: "Back",
      danger: true,
    });
    if (!sure) return;
    try {
      await fetch("/logout", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}", credentials: "same-origin" });
    } finally {
      forget();
      location.reload();
    }
  }

  key(event) {
    if (presses(event) || event.target?.type === "range") return false;
    const controls = [this.here, this.all, this.device].flatMap((part) => [...part.querySelectorAll("button, input")]);
    const at = controls.indexOf(document.activeElement);
    const to = moved(event, Math.max(0, at), controls.length);
    if (to === null) return false;
    controls[at < 0 ? 0 : to]?.focus();
    return true;
  }
}
