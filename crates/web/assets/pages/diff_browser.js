// Files at the left, the lines of one at the right: of a review or of a checkpoint. Lines are asked for
// file by file and page by page. On a phone one file has the whole width.

import { attr, button, clear, h, keyed } from "../dom.js";
import { counts, fileLines, pathText } from "../diff.js";
import { isField } from "../keys.js";
import { attempt, letter, plain, presses } from "./shown.js";

/** A press of this length on a line of a phone is meant for it. */
const LONG_PRESS_MS = 500;

/** `options`: `comment(path, line, text) → whether it was taken` where lines take comments, `drawn()`. */
export class DiffBrowser {
  #app;
  #options;
  #call = {};
  #turn = 0;
  #files = [];
  #file = 0;
  #line = 0;
  #comments = [];
  #seen = new Set();
  #ends;
  /** Whether the files could not be read. */
  isUnread = false;

  constructor(app, options = {}) {
    this.#app = app;
    this.#options = options;
    this.#ends = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.#seen.add(target.file);
    });
    this.list = h("ul", { class: "rows-list diff-files", role: "list", aria: { label: "Files" } });
    this.path = h("span", { class: "diff-path" });
    const before = button("‹", () => this.#step(-1), { class: "button small", aria: { label: "File before" } });
    const after = button("›", () => this.#step(1), { class: "button small", aria: { label: "Next file" } });
    this.bar = h("div", { class: "diff-bar" }, before, this.path, after);
    this.lines = h("div", {
      class: "diff-lines",
      tabIndex: 0,
      role: "region",
      aria: { label: "Changes" },
      on: { click: (event) => this.#tap(event) },
    });
    this.element = h("div", { class: "diff-browser" }, this.list, h("div", { class: "diff-side" }, this.bar, this.lines));
    if (options.comment) this.#watchPress();
  }

  /** Asks for the files of a review or checkpoint: params of `view/diff`. */
  async load(call, wanted) {
    const isSame = JSON.stringify(call) === JSON.stringify(this.#call);
    this.#call = call;
    const turn = ++this.#turn;
    // A comment that is being written is kept as a draft, and goes on below its line.
    const isWriting = isSame && this.lines.querySelector("#comment") !== null;
    if (!isSame) this.#show([], "…");
    const found = await attempt(this.#app, "rookery/view/diff", call);
    if (turn !== this.#turn) return;
    this.isUnread = !found;
    if (!found) return isSame ? undefined : this.#show([], "What differs could not be read.");
    // The person may have gone to another file meanwhile.
    const path = wanted ?? (isSame ? this.#files[this.#file]?.path : undefined);
    this.#show(found.files ?? []);
    await this.select(
      Math.max(
        0,
        this.#files.findIndex((file) => file.path === path),
      ),
      isSame ? this.#line : 0,
    );
    if (isWriting && path === this.#files[this.#file]?.path) this.comment();
    this.#options.drawn?.();
  }

  #show(files, none = "No file differs.") {
    this.#files = files;
    this.#file = 0;
    this.#seen.clear();
    this.#drawList();
    this.#clearLines();
    if (files.length === 0) this.lines.append(h("p", { class: "none" }, none));
  }

  /** The files, as a review counts them. */
  get files() {
    return this.#files;
  }

  /** Files of which the end was not on the screen, the shown one first. */
  get unseen() {
    const here = this.#files[this.#file];
    return this.#files.filter((file) => !this.#seen.has(file)).sort((a, b) => Number(b === here) - Number(a === here));
  }

  /** Whether the daemon has no more of a file to show than a part. */
  get isCut() {
    return this.#files.some((file) => file.cut && !file.next);
  }

  /** Goes to the end of what is here of a file. */
  async showEnd(file) {
    await this.select(this.#files.indexOf(file));
    this.#line = Infinity;
    this.#mark();
    this.lines.scrollTop = this.lines.scrollHeight;
  }

  /** Comments that are shown below their lines. */
  set comments(comments) {
    this.#comments = comments;
    this.#drawList();
    this.#drawComments();
  }

  #drawList() {
    keyed(
      this.list,
      this.#files,
      (file) => file.path,
      (file, at) => this.#fileElement(file, at),
      (element, file, at) => {
        attr(element, "aria-current", at === this.#file ? "true" : null);
        const count = this.#comments.filter((comment) => comment.path === file.path).length;
        element.querySelector(".comment-count").textContent = count ? `${count} comment${count === 1 ? "" : "s"}` : "";
      },
    );
    const file = this.#files[this.#file];
    clear(this.path);
    if (file) this.path.append(pathText(file), " ", counts(file), h("span", { class: "dim" }, ` ${this.#file + 1}/${this.#files.length}`));
  }

  #fileElement(file, at) {
    const open = h(
      "button",
      { type: "button", class: "row-main", on: { click: () => void this.select(at) } },
      h("span", { class: "path" }, pathText(file)),
      counts(file),
      h("span", { class: "comment-count dim" }),
    );
    return h("li", { class: "entry", role: "listitem", data: { file: file.path } }, open);
  }

  #step(by) {
    const to = this.#file + by;
    if (to >= 0 && to < this.#files.length) void this.select(to);
  }

  /** Shows a file. */
  async select(at, line = 0) {
    const file = this.#files[at];
    if (!file) return;
    this.#file = at;
    this.#line = line;
    this.#drawList();
    if (!file.hunks && !file.binary) {
      const turn = this.#turn;
      this.#clearLines();
      this.lines.append(h("p", { class: "none" }, "…"));
      const found = await attempt(this.#app, "rookery/view/diff", { ...this.#call, file: file.path });
      const full = found?.files?.find((one) => one.path === file.path);
      if (turn !== this.#turn || this.#files[this.#file] !== file || !full) return;
      Object.assign(file, full, { next: found.next });
    }
    this.#drawLines(file);
  }

  #clearLines() {
    this.#ends.disconnect();
    clear(this.lines);
  }

  // The end of a file is an element of its own: seen once it was within whatever scrolls.
  #addEnd(file) {
    const end = h("div", { class: "card-end", aria: { hidden: "true" } });
    end.file = file;
    this.lines.append(end);
    this.#ends.observe(end);
  }

  #drawLines(file) {
    this.#clearLines();
    if (file.binary) this.lines.append(h("p", { class: "none" }, "A binary file."));
    else this.lines.append(fileLines(file));
    if (file.next) this.#addMore(file);
    else this.#addEnd(file);
    this.lines.scrollTop = 0;
    this.#mark(false);
    this.#drawComments();
  }

  #addMore(file) {
    const more = button("More lines", async () => {
      const found = await attempt(this.#app, "rookery/view/diff", { ...this.#call, file: file.path, from: file.next });
      const page = found?.files?.find((one) => one.path === file.path);
      if (!page) return;
      file.hunks.push(...page.hunks);
      file.next = found.next;
      more.replaceWith(fileLines(page));
      if (file.next) this.#addMore(file);
      else this.#addEnd(file);
    });
    this.lines.append(more);
  }

  // ---- lines

  #all() {
    return [...this.lines.querySelectorAll(".diff-line")];
  }

  #mark(scroll = true) {
    const all = this.#all();
    this.#line = Math.max(0, Math.min(this.#line, all.length - 1));
    all.forEach((line, at) => attr(line, "aria-current", at === this.#line ? "true" : null));
    if (scroll) all[this.#line]?.scrollIntoView({ block: "nearest" });
  }

  #tap(event) {
    const at = this.#all().indexOf(event.target.closest(".diff-line"));
    if (at < 0) return;
    this.#line = at;
    this.#mark(false);
  }

  #watchPress() {
    let timer = 0;
    let isLong = false;
    const end = () => clearTimeout(timer);
    this.lines.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch") return;
      isLong = false;
      timer = setTimeout(() => {
        isLong = true;
        this.#tap(event);
        this.comment();
      }, LONG_PRESS_MS);
    });
    for (const kind of ["pointerup", "pointercancel", "pointermove", "scroll"]) this.lines.addEventListener(kind, end);
    // The end of a long press is no tap, which would take the keyboard from the field.
    this.lines.addEventListener("touchend", (event) => {
      if (!isLong) return;
      isLong = false;
      event.preventDefault();
      this.lines.querySelector("#comment")?.focus();
    });
    this.lines.addEventListener("dblclick", () => this.comment());
  }

  // ---- comments

  // A removed line has no number on the new side: the next line that has one stands for it.
  #numberAt(at) {
    const all = this.#all();
    const next =
      all.slice(at).find((line) => line.dataset.line) ??
      all
        .slice(0, at)
        .reverse()
        .find((line) => line.dataset.line);
    return next ? Number(next.dataset.line) : undefined;
  }

  #drawComments() {
    for (const old of this.lines.querySelectorAll(".comment-shown")) old.remove();
    const path = this.#files[this.#file]?.path;
    for (const comment of this.#comments.filter((one) => !one.path || one.path === path)) {
      const by = !comment.by || comment.by === (this.#app.deviceName || "browser") ? "you" : comment.by;
      const made = h("div", { class: "comment-shown" }, h("span", { class: "dim" }, comment.delivered ? `${by}, sent: ` : `${by}: `), plain(comment.text));
      const line = comment.line && this.lines.querySelector(`[data-line="${Number(comment.line)}"]`);
      if (line) line.after(made);
      else this.lines.prepend(made);
    }
  }

  /** Opens the field for a comment on the selected line. */
  comment() {
    if (!this.#options.comment || this.#app.rights === "look") return;
    const known = this.lines.querySelector("#comment");
    if (known) return known.focus();
    const line = this.#all()[this.#line];
    const file = this.#files[this.#file];
    if (!file) return;
    const number = line ? this.#numberAt(this.#line) : undefined;
    const key = `comment:${JSON.stringify(this.#call)}:${file.path}:${number ?? ""}`;
    const field = h("textarea", {
      id: "comment",
      class: "field",
      rows: 2,
      placeholder: number ? `Comment on line ${number}` : "Comment",
      aria: { label: "Comment" },
      value: this.#app.drafts.get(key) ?? "",
    });
    const close = () => {
      box.remove();
      this.lines.focus({ preventScroll: true });
    };
    const send = async () => {
      const text = field.value.trim();
      if (!text) return close();
      if (!(await this.#options.comment(file.path, number, text))) return;
      this.#app.drafts.set(key, "");
      close();
    };
    field.addEventListener("input", () => this.#app.drafts.set(key, field.value));
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Escape") close();
      else if (event.key === "Enter" && !event.shiftKey && !event.altKey && !this.#app.isPhone()) {
        event.preventDefault();
        if (!event.repeat) void send();
      }
    });
    const box = h(
      "div",
      { class: "comment-box" },
      field,
      h(
        "div",
        { class: "sheet-buttons" },
        button("Cancel", close),
        h("span", { class: "spring" }),
        button("Comment", () => void send(), { class: "button primary" }),
      ),
    );
    if (line) line.after(box);
    else this.lines.prepend(box);
    box.scrollIntoView({ block: "nearest" });
    field.focus({ preventScroll: true });
  }

  /** A key; whether it was one of these. */
  key(event) {
    if (isField(event.target) || presses(event)) return false;
    const by = { ArrowUp: -1, k: -1, ArrowDown: 1, j: 1, PageUp: -20, PageDown: 20, Home: -1e9, g: -1e9, End: 1e9, G: 1e9 }[event.key];
    if (by !== undefined && !event.ctrlKey && !event.altKey && !event.metaKey) {
      this.#line += by;
      this.#mark();
      return true;
    }
    switch (letter(event)) {
      case "]":
        this.#step(1);
        return true;
      case "[":
        this.#step(-1);
        return true;
      case "c":
        if (!this.#options.comment) return false;
        this.comment();
        return true;
      default:
        return false;
    }
  }
}
