// Who has the keyboard, where typing happens, how large the page is and whether it is seen. Part of `App`.

import { text } from "./dom.js";
import { isField } from "./keys.js";
import { keep, kept } from "./kept.js";

const MONO = '"DejaVu Sans Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", "Noto Sans Mono", monospace';
/** A screen on which one thing is shown at a time. */
const PHONE = matchMedia("(max-width: 599.98px)");
/** Where a field with the keyboard brings one up on the screen. */
const TOUCH = matchMedia("(pointer: coarse)");

export const room = {
  /** Whether the next letter goes to a program. */
  isTyping() {
    return this.state === "open" && this.word() === "workspace" && this.terminal !== null && !this.overlay.isAsking() && !this.scene.palette && !this.keyboard.isPrefixed;
  },

  isKeysFocused() {
    return document.activeElement === this.keyboard.field;
  },

  /** Gives the keyboard to what should have it; `isAsked` if the person asked for it just now. */
  focus(isAsked = false) {
    if (!this.palette.element.hidden || this.overlay.isAsking()) return;
    if (this.word() !== "workspace") {
      const active = document.activeElement;
      if (isAsked && active && !active.closest("#page")) this.current?.element?.focus({ preventScroll: true });
      return;
    }
    const active = document.activeElement;
    // A field of a page that was just left has the keyboard until the browser takes it away.
    const isShown = active && active !== document.body && active !== this.released && active.getClientRects().length > 0;
    if (!isAsked && isShown && (isField(active) || active.closest("#sidebar, #head, #status"))) return;
    // On a touch screen the keyboard comes by its key or a field, and never by a tap on text.
    if (this.selection.range || this.isTouch()) return;
    if (this.terminal !== null) this.keyboard.focus();
  },

  focusChanged() {
    this.root.toggleAttribute("data-typing", this.isKeysFocused());
  },

  /** How far before its end a terminal was shown when the page was left. */
  backOf(t) {
    return kept("back", []).find(([one]) => one === t)?.[1] ?? 0;
  },

  placeKeys() {
    const { field } = this.keyboard;
    const caret = this.panes.get(this.terminal)?.caret();
    if (!caret) return;
    const set = (name, value) => field.style.setProperty(name, `${value}px`);
    set("left", Math.max(0, Math.min(innerWidth - 20, caret.left)));
    set("top", Math.max(0, Math.min(innerHeight - 20, caret.top)));
    set("height", caret.height);
    const preedit = document.getElementById("preedit");
    if (preedit.hidden) return;
    for (const name of ["left", "top"]) preedit.style.setProperty(name, `${caret[name]}px`);
    preedit.style.setProperty("line-height", `${caret.height}px`);
    preedit.style.setProperty("font-size", `${this.panes.get(this.terminal).fontSize}px`);
  },

  /** What an input method shows, at the cursor. */
  showPreedit(words) {
    const preedit = document.getElementById("preedit");
    text(preedit, words);
    preedit.hidden = words === "";
    if (this.terminal === null || this.state !== "open") return;
    if (this.rights === "full") this.link.input("preedit", { t: this.terminal, text: words, cursor: [...words].length });
    this.placeKeys();
  },

  tellFocus() {
    const state = { has: document.hasFocus() && !document.hidden, visible: !document.hidden };
    this.root.toggleAttribute("data-unfocused", !state.has);
    this.link.input("focus", state);
    this.emit("focus", state);
  },

  tellRoom() {
    if (!this.link.isOpen) return;
    const room = { ...this.workspace.room(), single: this.isPhone() };
    const key = JSON.stringify(room);
    if (this.sentRoom === key) return;
    this.sentRoom = key;
    this.link.input("resize", room);
  },

  fontFamily() {
    const { family } = this.settings.font ?? {};
    return family ? `"${family.replaceAll(/["\\]/g, "")}", ${MONO}` : MONO;
  },

  fontSize() {
    return this.ownFont ?? this.settings.font?.size ?? 14;
  },

  isPhone() {
    return this.root.hasAttribute("data-phone");
  },

  /** A font size of this device's own, 6 to 24 pixels; null for that of the settings. */
  setFontSize(px) {
    this.ownFont = px === null ? null : Math.max(6, Math.min(24, px));
    this.prefs.local.set("font", this.ownFont);
    this.workspace.resized();
  },

  isTouch() {
    return TOUCH.matches;
  },

  onPhone() {
    const is = PHONE.matches;
    if (is === this.isPhone() && this.viewer !== null) return;
    this.root.toggleAttribute("data-phone", is);
    this.emit("phone", is);
    if (this.workspace) this.workspace.resized();
  },

  listen() {
    PHONE.addEventListener("change", () => this.onPhone());
    for (const name of ["focus", "blur"]) window.addEventListener(name, (event) => event.target === window && this.tellFocus());
    document.addEventListener("visibilitychange", () => {
      this.tellFocus();
      if (!document.hidden) {
        this.paintAges();
        this.schedule();
      }
    });
    window.addEventListener("pagehide", () => {
      const back = [...this.panes].filter(([, pane]) => pane.term).map(([t, pane]) => [t, pane.term.view[1] - pane.term.view[0]]);
      keep("back", back);
      this.link.leave();
    });
    window.addEventListener("pageshow", (event) => event.persisted && this.enter());
    window.addEventListener("online", () => this.link.hurry());
    document.addEventListener("focusin", (event) => {
      if (event.target !== this.released) this.released = null;
    });
    window.addEventListener("popstate", (event) => {
      if (!event.state?.place || this.state !== "open") return;
      this.isGoingBack = true;
      const turn = (this.backTurn = (this.backTurn ?? 0) + 1);
      void this.go(event.state.place).then(() => {
        if (turn === this.backTurn) this.isGoingBack = false;
      });
    });
  },
};
