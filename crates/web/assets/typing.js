// Input to programs and text out of them: keys, pastes, copies, clipboards. Part of `App`.

import { typedBy } from "./keys.js";
import { exact } from "./pages/shown.js";

const VIEW = "rookery/view/";

export const typing = {
  refuse() {
    this.message("warn", "not sent");
    this.alert("not sent");
  },

  /** Whether a program takes input; says why not. */
  takesInput(t) {
    if (this.state !== "open") return this.refuse(), false;
    if (this.rights !== "full") return this.message("warn", this.rights === "look" ? "this device is read-only" : "this device may decide but not type"), false;
    if (this.term(t)?.ended) return this.message("warn", "the program has ended; x after the prefix closes the tab"), false;
    return true;
  },

  typeKey(t, { k, mods = 0, kind, text: words, shifted, base }) {
    if (!this.takesInput(t)) return;
    const press = { t, k, mods: mods || undefined, kind: kind === "press" ? undefined : kind, text: words, shifted, base };
    this.link.input("key", press, kind === "release" ? "" : typedBy({ k, mods, text: words }));
  },

  typeText(t, words) {
    if (this.takesInput(t)) this.link.input("text", { t, text: words }, words);
  },

  async typePaste(t, words) {
    if (!this.takesInput(t)) return;
    const how = this.settings.pasteWarning;
    try {
      const sure = how === "never" ? true : undefined;
      if (how === "always" && !(await this.askPaste(words, "always"))) return;
      const reply = await this.call(`${VIEW}paste`, { t, text: words, sure: how === "always" ? true : sure });
      if (reply.pasted) return;
      if (await this.askPaste(words, reply.why)) await this.call(`${VIEW}paste`, { t, text: words, sure: true });
    } catch (error) {
      this.complain(error);
    }
  },

  /** The first lines, exactly, and how many there are. */
  async askPaste(words, why) {
    const lines = words.split(/\r\n|\r|\n/);
    if (lines.at(-1) === "") lines.pop();
    const count = `${lines.length} ${lines.length === 1 ? "line" : "lines"}`;
    const title = why === "controls" ? `Paste ${count} with control characters?` : why === "lines" ? `Paste ${count}? The program runs each as it comes.` : `Paste ${count}?`;
    return (await this.ask({ title, lines: lines.slice(0, 5).map(exact), yes: "Paste", no: "Cancel" })) !== null;
  },

  /** Pastes what the browser's clipboard has, where it may be read. */
  async pasteHere() {
    if (this.terminal === null) return this.message("warn", "cannot paste here");
    try {
      const words = await navigator.clipboard.readText();
      this.focus(true);
      if (words) this.type.paste(this.terminal, words);
    } catch {
      this.message("warn", "the browser denies clipboard access; ctrl+shift+v pastes");
    }
  },

  /** To every clipboard; the selection stays if it was made for that. */
  async copySelection(stays = false) {
    if (!this.selection.range) return this.message("warn", "nothing is selected");
    const tell = this.selection.tell(["clipboard", "selection"]);
    const words = this.selection.isHere() ? this.selection.text() : await tell;
    if (!words) return this.message("warn", "there is nothing to copy");
    const isDone = await this.copy(words);
    if (stays) return;
    if (isDone) this.selection.clear();
    this.focus(true);
  },

  /** To the clipboard of this machine; says so once it is there. */
  async copy(words) {
    const isDone = (await this.writeClipboard(words)) || this.copyByEvent(words);
    this.toast(isDone ? "info" : "warn", isDone ? "copied" : "the browser denied writing to the clipboard");
    this.announce(isDone ? "copied" : "not copied");
    return isDone;
  },

  async writeClipboard(words) {
    try {
      await navigator.clipboard.writeText(words);
      return true;
    } catch {
      return false;
    }
  },

  /** Where there is no clipboard to write to: by the event of a copy command. */
  copyByEvent(words) {
    let isDone = false;
    this.takeCopy = (event) => {
      event.clipboardData.setData("text/plain", words);
      event.preventDefault();
      return (isDone = true);
    };
    document.execCommand("copy");
    this.takeCopy = null;
    return isDone;
  },

  async takeClip(clip) {
    if (clip.target !== "clipboard") return;
    if (await this.writeClipboard(clip.text)) return this.announce("a program copied text");
    // Programs copy often; that the browser refuses it is said once.
    if (!this.isClipRefused) this.toast("warn", "a program copied text, but the browser does not let this page write to the clipboard unasked");
    this.isClipRefused = true;
  },
};
