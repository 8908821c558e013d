// A review: its files, comments on lines, and what is decided about it. Deciding has the same guard as a
// card, and what was not shown to its end is not approved at once; nothing is sent to an agent but by the person.

import { button, h } from "../dom.js";
import { DiffBrowser } from "./diff_browser.js";
import { Guard, READ_FIRST, guardOf, onReturn } from "./guard.js";
import { isField } from "../keys.js";
import { attempt, letter, lined, plain, presses, words } from "./shown.js";

/** Said before something is approved of which the daemon has no more to show. */
const CUT = "a part is too long to be shown here; a again approves";
const UNREAD = "what differs could not be read; a again approves";

export function create(app, element) {
  return new Review(app, element);
}

class Review {
  #app;
  #id = null;
  #info = null;
  #turn = 0;
  #isShown = false;
  #again = false;
  #guard;

  constructor(app, element) {
    this.#app = app;
    this.#guard = new Guard(guardOf(app));
    // What was not seen for long, or may have changed while the daemon was away, is read anew before it is decided.
    onReturn((isLong) => isLong && this.#reload());
    app.on("open", () => this.#reload());
    this.title = h("h1", {});
    this.facts = h("span", { class: "dim" });
    this.state = h("span", { class: "chip", id: "review-state" });
    this.plan = h("pre", { class: "review-plan", tabIndex: 0 });
    this.diff = new DiffBrowser(app, { comment: (path, line, text) => this.#comment(path, line, text), drawn: () => this.#guard.begin() });
    this.note = h("p", { class: "hint card-note" });
    this.later = button("Later", () => void this.#setStatus("deferred"), { id: "review-later" });
    this.remark = button("Comment", () => this.diff.comment(), { id: "review-comment" });
    this.changes = button("Request changes", (event) => void this.#requestChanges(event), {
      id: "request-changes",
      class: "button danger decide",
    });
    this.approve = button("Approve", (event) => this.#approve(event), { id: "review-approve", class: "button primary decide" });
    this.foot = h(
      "div",
      { class: "card-foot" },
      this.later,
      this.remark,
      h("span", { class: "spring" }),
      this.changes,
      this.approve,
      h("p", { class: "keys-hint hint" }, "c comment  a approve  r request changes  s later  ]/[ file  j/k line  esc back"),
    );
    this.root = h(
      "div",
      { id: "review", class: "review-page" },
      h("div", { class: "page-head" }, this.title, this.facts, h("span", { class: "spring" }), this.state),
      this.plan,
      this.diff.element,
      this.note,
      this.foot,
    );
    this.#guard.watch(this.foot);
    element.append(this.root);
  }

  show(place) {
    this.#isShown = true;
    this.#guard.shut();
    if (place.review !== this.#id) {
      this.#id = place.review;
      this.#info = null;
      this.#draw();
    }
    void this.#load(place.file);
  }

  update() {}

  hide() {
    this.#isShown = false;
    this.#guard.shut();
    this.#turn += 1;
  }

  #reload() {
    if (!this.#isShown || !this.#id) return;
    this.#guard.shut();
    void this.#load();
  }

  async #load(file) {
    const turn = ++this.#turn;
    this.#again = false;
    const info = await attempt(this.#app, "rookery/reviews/get", { id: this.#id });
    if (turn !== this.#turn) return;
    // While the daemon is away the picture stays, and what is pressed is refused.
    if (!info) return this.#guard.begin();
    this.#take(info);
    await this.diff.load({ review: this.#id }, file);
    this.diff.comments = this.#info.comments ?? [];
    this.#guard.begin();
  }

  #take(info) {
    this.#info = info;
    this.#draw();
    this.diff.comments = info.comments ?? [];
  }

  #draw() {
    const info = this.#info;
    this.title.textContent = info ? `Review ${plain(info.summary)}` : "Review";
    const { files = [], additions = 0, deletions = 0, tests } = info?.differences ?? {};
    this.facts.textContent = info ? `${files.length} files +${additions} −${deletions}${tests ? ` · tests ${words(tests.status)}` : ""}` : "";
    this.state.textContent = words(info?.status ?? "");
    this.state.hidden = !info;
    this.plan.hidden = !info?.plan;
    this.plan.textContent = lined(info?.plan?.markdown ?? "");
    this.foot.hidden = this.#app.rights === "look";
    // No message lies over what decides.
    this.#app.overlay.placeToasts();
  }

  async #comment(path, line, text) {
    const comment = line ? { path, line, text } : path ? { path, text } : { text };
    const info = await attempt(this.#app, "rookery/reviews/comment", { id: this.#id, comments: [comment] });
    if (info) this.#take(info);
    return Boolean(info);
  }

  #passes(event) {
    if (this.#app.rights === "look" || !this.#info) return false;
    if (this.#guard.passes(event)) return true;
    this.note.textContent = READ_FIRST;
    this.#app.announce(READ_FIRST);
    return false;
  }

  async #setStatus(status) {
    const info = await attempt(this.#app, "rookery/reviews/setStatus", { id: this.#id, status });
    if (!info) return null;
    this.#take(info);
    this.note.textContent = "";
    this.#guard.begin();
    if (status === "deferred") void this.#app.go({ page: "reviews" });
    return info;
  }

  /** Whether all of it was shown, or it was said what was not. It goes there, and the guard begins anew. */
  #sawAll() {
    const { unseen, files, isCut, isUnread } = this.diff;
    if (this.#again || !(unseen.length || isCut || isUnread)) return true;
    this.#again = true;
    const many = files.length === 1 ? "the file was not shown to its end" : `${unseen.length} of ${files.length} files were not shown to their end`;
    this.#say(unseen.length ? `${many}; a again approves` : isCut ? CUT : UNREAD);
    this.#guard.shut();
    void Promise.resolve(unseen.length && this.diff.showEnd(unseen[0])).then(() => this.#guard.begin());
    return false;
  }

  #approve(event) {
    if (!this.#passes(event) || !this.#sawAll()) return;
    void this.#setStatus("approved").then((info) => {
      if (info) this.#say("approved");
    });
  }

  #say(text) {
    this.note.textContent = text;
    this.#app.announce(text);
  }

  /** Sets the status and sends the comments to the agent. */
  async #requestChanges(event) {
    if (!this.#passes(event)) return;
    if ((this.#info.comments ?? []).length === 0) {
      const said = await this.#app.ask({ title: "What should change?", yes: "Request changes", guarded: true, field: { label: "Comment for the agent" } });
      if (!said?.text?.trim()) return;
      if (!(await this.#comment(undefined, undefined, said.text.trim()))) return;
    }
    const info = await this.#setStatus("changes_requested");
    if (!info) return;
    const isDelivered = (review) => (review.comments ?? []).every((comment) => comment.delivered);
    const told = isDelivered(info) ? info : await attempt(this.#app, "rookery/reviews/deliver", { id: this.#id });
    if (told) this.#take(told);
    this.#say(told && isDelivered(told) ? "changes requested; the agent has your comments" : "changes requested; no agent could be told");
  }

  key(event) {
    if (isField(event.target) || presses(event)) return false;
    if (event.key === "Escape") {
      void this.#app.go({ page: "reviews" });
      return true;
    }
    if (this.diff.key(event)) return true;
    switch (letter(event)) {
      case "a":
        this.#approve(event);
        return true;
      case "r":
        void this.#requestChanges(event);
        return true;
      case "s":
        if (!event.repeat && this.#app.rights !== "look") void this.#setStatus("deferred");
        return true;
      default:
        return false;
    }
  }
}
