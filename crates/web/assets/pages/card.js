// The card of a request: everything that a decision is made by, and the place where one is made.
// It is shown beside the inbox, over a whole page, and within a thread. It knows none of them.
//
// Deciding keys and buttons work only after the guard; `a` is yes once, `d` no, `A` remembers and needs
// Enter; Enter alone decides nothing. What does not fit is not approved before its end was seen. The
// answer carries the digest of what was shown.

import { button, clear, h } from "../dom.js";
import { fileElement } from "../diff.js";
import { prose } from "../prose.js";
import { Guard, READ_FIRST, guardOf, onReturn } from "./guard.js";
import { isField } from "../keys.js";
import { NO_ANSWER, isUnanswered } from "../link.js";
import { attempt, clock, exactClock, failure, letter, plain, presses, words } from "./shown.js";

/** Said before the end of a card was seen. */
const AGAIN = "a again approves";
/** Said before something is approved that the card has only in part. */
const UNSEEN = "a part is too long to be here: `rookery inbox show` prints it; a again approves all of it";
/** The code of an answer to something that has changed meanwhile. */
const CHANGED = -32011;
/** Sends a decision; gives the result, or says why there is none. `changed` is called if it was about something else by now. */
export async function answer(app, card, params, changed) {
  if (app.rights === "look") return app.toast("warn", "this device is read-only");
  try {
    return await app.call("rookery/requests/answer", { id: card.request, shown: card.digest, ...params });
  } catch (error) {
    const why = { [CHANGED]: "it changed: nothing was decided, read it again", [NO_ANSWER]: "no answer came: it may have been decided, which is seen once the daemon is back" };
    app.toast("error", why[error?.code] ?? failure(error));
    // Without a daemon nothing can be read again; all of it is once there is one.
    if (!isUnanswered(error)) changed?.();
    return undefined;
  }
}

/** Whether a card still waits. */
export const isPending = (card) => Boolean(card?.request) && (card.state === "pending" || !card.state);

/** How a request was settled: `approved by idx0 12:03:44`. */
export function settledText(card) {
  const by = card.by ? ` by ${plain(card.by)}` : "";
  const at = card.settledAt ?? card.at;
  return `${words(card.state)}${by}${at ? ` ${exactClock(at)}` : ""}`;
}

/**
 * A card. `options.open()` goes to its session, `options.show(about)` to what it is about, `options.next()` to
 * the next item, `options.decided()` is told of a decision; what is left off is not offered.
 */
export class CardView {
  #app;
  #options;
  #guard;
  #card = null;
  #call = null;
  #asked = 0;
  #endSeen = false;
  #unseenTold = false;
  #armed = false;
  #busy = false;
  #question = 0;
  #answers = {};
  #own = "";

  constructor(app, options = {}) {
    this.#app = app;
    this.#options = options;
    this.#guard = new Guard(guardOf(app));
    this.state = h("p", { id: "card-state", class: "card-state" });
    this.body = h("div", { class: "card-body", tabIndex: 0, role: "region", aria: { label: "What would be done" } });
    this.note = h("p", { class: "card-note hint" });
    this.sheet = h("form", { class: "deny-sheet", on: { submit: (event) => this.#sendDenial(event) } });
    this.sheet.hidden = true;
    this.foot = h("div", { class: "card-foot" });
    this.head = h("header", { class: "card-head" });
    this.element = h("article", { id: "card", class: "card", tabIndex: -1 }, this.head, this.state, this.body, this.sheet, this.note, this.foot);
    this.element.hidden = true;
    this.#guard.watch(this.element);
    this.#watchEnd();
    app.on("cards", (news) => this.news(news));
    app.on("open", () => this.reload());
    onReturn((isLong) => isLong && this.reload());
  }

  /** The card that is shown. */
  get card() {
    return this.#card;
  }

  /** Whether letters go into one of its fields. */
  get hasField() {
    return !this.sheet.hidden || (isField(document.activeElement) && this.element.contains(document.activeElement));
  }

  /** Asks for a card by `{item}` or `{request}` and shows it. */
  async load(call) {
    const isSame = JSON.stringify(call) === JSON.stringify(this.#call);
    this.#call = call;
    const asked = ++this.#asked;
    this.#guard.shut();
    if (!isSame) this.#forget();
    const card = await attempt(this.#app, "rookery/view/card", call);
    if (asked !== this.#asked) return;
    if (!card && this.#app.state === "open") return this.clear();
    // While the daemon is away the picture stays; it is asked for again once it is back.
    if (!card) return this.#guard.begin();
    this.#card = card;
    this.#draw();
  }

  /** Asks for the same one again. */
  reload() {
    if (this.#call) void this.load(this.#call);
  }

  /** Shows none. */
  clear() {
    this.#asked += 1;
    this.#call = null;
    this.#card = null;
    this.#forget();
    this.#guard.shut();
    this.element.hidden = true;
  }

  /** A decision that is half made is not made. */
  disarm() {
    this.#armed = false;
    this.#guard.begin();
  }

  /** It was settled or has changed. */
  news(news) {
    const card = this.#card;
    if (!card || card.request !== news.request || (card.state === news.state && card.by === news.by)) return;
    const wasPending = isPending(card);
    Object.assign(card, { state: news.state, by: news.by, settledAt: news.at });
    this.#armed = false;
    if (!isPending(card)) this.sheet.hidden = true;
    this.#drawState();
    this.#drawFoot();
    this.#guard.begin();
    if (wasPending && !isPending(card)) this.#app.announce(settledText(card));
  }

  #forget() {
    this.#endSeen = false;
    this.#armed = false;
    this.#busy = false;
    this.#question = 0;
    this.#answers = {};
    this.#own = "";
    this.sheet.hidden = true;
    this.#say("");
  }

  #say(text, isLoud = false) {
    this.note.textContent = text;
    if (text && isLoud) this.#app.announce(text);
  }

  #may(action) {
    const actions = this.#card?.actions ?? [];
    return this.#app.rights !== "look" && (actions.length === 0 || actions.includes(action));
  }

  // ---- drawing

  #seen;
  #endMark;

  // The end of a card is an element of its own: seen once it was within whatever scrolls.
  #watchEnd() {
    this.#endMark = h("div", { class: "card-end", aria: { hidden: "true" } });
    this.#seen = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) this.#endSeen = true;
    });
  }

  #draw() {
    const card = this.#card;
    this.#endSeen = false;
    this.#unseenTold = false;
    this.element.hidden = false;
    this.element.dataset.kind = card.kind;
    this.element.setAttribute("aria-labelledby", "card-title");
    this.#drawHead();
    this.#drawState();
    clear(this.body);
    this.#seen.disconnect();
    this.body.append(...this.#content(), this.#endMark);
    this.body.scrollTop = 0;
    this.#drawFoot();
    this.#app.overlay.placeToasts();
    this.#guard.begin();
    this.#seen.observe(this.#endMark);
  }

  #drawHead() {
    const card = this.#card;
    clear(this.head);
    const asked = h("span", { class: "dim" });
    if (card.at) {
      const ago = h("time", {});
      this.#app.ages(ago, card.at);
      asked.append("asked ", ago, " ago");
    }
    const facts = [
      plain(card.reason),
      card.rule ? `rule ${plain(card.rule)}` : "",
      card.mode ? `mode ${words(card.mode)}` : "",
      card.source ? `by ${plain(card.source)}` : "",
      card.deadline && isPending(card) ? `refused unless answered by ${clock(card.deadline)}` : "",
    ];
    this.head.append(
      h("h2", { id: "card-title" }, titleOf(card)),
      h("span", { class: "card-session" }, [card.project, card.sessionTitle].map(plain).filter(Boolean).join(" / ")),
      asked,
      h("p", { class: "card-why dim" }, facts.filter(Boolean).join(" · ")),
    );
  }

  #drawState() {
    const card = this.#card;
    const isSettled = Boolean(card.request) && !isPending(card);
    this.state.textContent = isSettled ? settledText(card) : "";
    this.state.hidden = !isSettled;
    this.element.dataset.state = card.state || "pending";
  }

  #content() {
    const card = this.#card;
    const parts = [];
    const diff = card.diff ?? [];
    if (diff.length > 0) {
      const cut = diff.some((file) => file.cut || !file.hunks);
      const inner = diff.map(fileElement);
      if (cut) inner.push(h("p", { class: "left-off" }, "Not all of it fits here: the whole text is below."));
      parts.push(h("div", { id: "card-diff" }, ...inner));
    }
    parts.push(...this.#what(diff));
    if (card.plan) parts.push(h("div", { class: "prose" }, ...prose(card.plan)));
    if (card.questions?.length) parts.push(this.#questions());
    parts.push(...surroundings(card));
    return parts;
  }

  // Exactly what would be done; beside a diff, all that it does not show.
  #what(diff) {
    const lines = this.#card.lines ?? [];
    if (lines.length === 0) return [];
    const head = diff.length > 0 ? [h("p", { class: "dim" }, "Beside the diff:")] : [];
    return [...head, h("pre", { id: "card-what" }, lines.join("\n"))];
  }

  // ---- questions

  #questions() {
    const list = this.#card.questions;
    const made = list.map((question, at) => this.#questionElement(question, at));
    return h("div", { class: "questions" }, ...made);
  }

  #questionElement(question, at) {
    const isNow = at === this.#question && isPending(this.#card);
    const title = question.title ? [h("span", { class: "dim" }, plain(question.title))] : [];
    const group = h("fieldset", { class: "question", data: { question: String(at + 1) } }, h("legend", {}, ...title, h("span", { class: "question-text" }, question.text)));
    const given = this.#answers[question.id];
    if (given !== undefined) group.append(h("p", { class: "given" }, given));
    if (!isNow || !this.#may("answer")) return group;
    question.options.forEach((option, index) => {
      const label = h("span", { class: "option-label" }, option.label);
      const about = option.description ? [h("span", { class: "dim" }, option.description)] : [];
      const made = h(
        "button",
        {
          type: "button",
          class: "button choice-button",
          data: { option: String(index + 1) },
          on: { click: (event) => this.#choose(event, option.label) },
        },
        h("kbd", {}, String(index + 1)),
        label,
        ...about,
      );
      group.append(made);
    });
    if (question.free !== false) group.append(this.#ownAnswer(question));
    return group;
  }

  #ownAnswer(question) {
    const number = question.options.length + 1;
    const field = h("input", {
      type: "text",
      class: "field",
      aria: { label: "Your own answer" },
      placeholder: question.options.length ? `${number} something else…` : "Your answer",
      autocomplete: "off",
      data: { option: String(number) },
    });
    field.value = this.#own;
    field.addEventListener("input", () => {
      this.#own = field.value;
    });
    const send = (event) => {
      event.preventDefault();
      if (field.value.trim()) this.#choose(event, field.value.trim());
    };
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        field.blur();
        this.element.focus();
      } else if (event.key === "Enter" && !event.isComposing) send(event);
    });
    return h("div", { class: "own-answer" }, field, button("Send", send, { class: "button" }));
  }

  /** One question is answered; after the last one all answers are sent. */
  #choose(event, text) {
    if (!this.#passes(event)) return;
    const list = this.#card.questions;
    this.#answers[list[this.#question].id] = text;
    this.#own = "";
    this.#question += 1;
    if (this.#question < list.length) {
      this.body.querySelector(".questions").replaceWith(this.#questions());
      this.#guard.begin();
      return;
    }
    const answers = this.#answers;
    this.#answers = {};
    this.#question = 0;
    void this.#answer({ answers });
  }

  // ---- deciding

  #drawFoot() {
    const card = this.#card;
    clear(this.foot);
    this.foot.hidden = !this.sheet.hidden;
    this.#say("");
    this.#armed = false;
    const add = (...buttons) => this.foot.append(...buttons);
    const open = this.#options.open ? [button("Open", () => this.#options.open(), { id: "open", class: "button", aria: { label: "Open session" } })] : [];
    if (!isPending(card)) {
      add(...open);
      if (this.#options.show && card.about && card.actions?.includes("show")) {
        add(button("Show", () => this.#options.show(card.about), { id: "show", class: "button" }));
      }
      if (this.#handoff()) add(button("Accept", (event) => void this.#accept(event), { id: "accept", class: "button primary decide" }));
      if (!card.request && card.item && this.#options.dismiss && this.#app.rights !== "look") {
        add(button("Dismiss", () => this.#options.dismiss(), { id: "dismiss", class: "button" }));
      }
      if (card.request && this.#options.next) add(button("Next", () => this.#options.next(), { class: "button" }));
      return;
    }
    if (this.#app.rights === "look") this.#say("this device is read-only");
    add(...open);
    if (this.#may("later")) add(button("Later", () => this.#later(), { id: "later", class: "button" }));
    add(h("span", { class: "spring" }));
    if (this.#may("remember")) {
      add(button("Remember…", (event) => this.#arm(event), { id: "remember", class: "button", aria: { label: "Approve and remember" } }));
    }
    if (this.#may("deny")) add(button("Deny", (event) => this.#startDenial(event), { id: "deny", class: "button danger decide" }));
    if (this.#may("approve")) add(button("Approve", (event) => this.#approve(event), { id: "approve", class: "button primary decide" }));
    this.foot.append(h("p", { class: "keys-hint hint" }, this.hint));
  }

  /** The keys that work here. */
  get hint() {
    const card = this.#card;
    const open = this.#options.open ? "  o open" : "";
    if (!isPending(card)) return `${this.#options.next ? "enter next" : ""}${open}  esc back`.trim();
    if (card.questions?.length) return `1-${(card.questions[this.#question]?.options.length ?? 0) + 1} choose  enter send${open}  esc back`;
    return `a approve  d deny…  A remember…  s later${open}`;
  }

  #passes(event) {
    return isPending(this.#card) && this.#isPast(event);
  }

  #isPast(event) {
    if (this.#busy || this.#app.rights === "look") return false;
    if (this.#guard.passes(event)) return true;
    if (!event.repeat && event.isTrusted) this.#say(READ_FIRST, true);
    return false;
  }

  /** The handoff that can be accepted here. */
  #handoff() {
    const { about, actions = [] } = this.#card;
    return about?.kind === "handoff" && actions.includes("accept") && this.#app.rights !== "look" ? about.id : null;
  }

  async #accept(event) {
    const card = this.#card;
    const id = this.#handoff();
    if (!id || !this.#isPast(event)) return;
    this.#guard.shut();
    const done = await attempt(this.#app, "rookery/handoffs/setStatus", { id, status: "accepted" });
    if (done) card.actions = card.actions.filter((action) => action !== "accept");
    if (card !== this.#card) return;
    this.#drawFoot();
    this.#guard.begin();
    if (done) this.#say("accepted", true);
  }

  /** Whether the end was seen; else it is shown, and the guard begins anew so that a held key does not go on. */
  #sawEnd() {
    if (this.#endSeen) return true;
    this.#endMark.scrollIntoView({ block: "end" });
    this.body.scrollTop = this.body.scrollHeight;
    this.#endSeen = true;
    this.#guard.begin();
    this.#say(AGAIN, true);
    return false;
  }

  /** Whether all of it was seen; what is not in the card at all is only told, once. */
  #sawAll() {
    if (!this.#sawEnd()) return false;
    const isNotice = (line) => line.startsWith("[not shown here: ") && line.endsWith("]");
    if (this.#unseenTold || !this.#card.lines?.some(isNotice)) return true;
    this.#unseenTold = true;
    this.#guard.begin();
    this.#say(UNSEEN, true);
    return false;
  }

  #approve(event) {
    if (!this.#passes(event) || !this.#sawAll()) return;
    void this.#answer({ approved: true });
  }

  #arm(event) {
    if (!this.#passes(event) || !this.#sawAll()) return;
    this.#armed = true;
    this.#say("enter approves this and remembers exactly this; any other key does not", true);
    const yes = button("Approve and remember exactly this", (event) => this.#remember(event), {
      id: "remember-yes",
      class: "button primary decide",
    });
    const no = button("Cancel", () => this.#drawFoot(), { class: "button" });
    clear(this.foot);
    this.foot.append(no, h("span", { class: "spring" }), yes);
    // The button lies where another was clicked a moment ago; Enter was not held yet.
    if (event.type === "click") this.#guard.begin();
    this.element.focus({ preventScroll: true });
  }

  #remember(event) {
    if (!this.#passes(event)) return;
    void this.#answer({ approved: true, remember: true });
  }

  #startDenial(event) {
    if (!this.#passes(event)) return;
    clear(this.sheet);
    const reason = h("input", {
      id: "deny-reason",
      type: "text",
      class: "field",
      autocomplete: "off",
      maxLength: 4000,
      placeholder: "Reason for the agent, if you like",
      aria: { label: "Reason" },
    });
    reason.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#endDenial();
      if (event.key === "Enter" && event.repeat) event.preventDefault();
    });
    const back = button("Back", () => this.#endDenial(), { class: "button" });
    const press = (event) => event.detail > 0 && !this.#passes(event) && event.preventDefault();
    const yes = h("button", { type: "submit", id: "deny-yes", class: "button danger decide", on: { click: press } }, "Deny");
    this.sheet.append(h("label", { for: "deny-reason" }, "Deny, because"), reason, h("div", { class: "sheet-buttons" }, back, yes));
    this.sheet.hidden = false;
    this.foot.hidden = true;
    this.#say("enter denies, esc does not");
    // The sheet may lie where another button was tapped a moment ago; a key is not pressed by two taps.
    if (event.type === "click") this.#guard.begin();
    // A phone's keyboard would hide what is decided by; there the field is tapped by who has a reason.
    if (!this.#app.isPhone()) reason.focus();
  }

  #endDenial() {
    this.sheet.hidden = true;
    this.foot.hidden = false;
    this.#say("");
    this.element.focus({ preventScroll: true });
  }

  #sendDenial(event) {
    event.preventDefault();
    if (!this.#passes(event)) return;
    const message = this.sheet.querySelector("#deny-reason").value.trim();
    this.#endDenial();
    void this.#answer(message ? { approved: false, message } : { approved: false });
  }

  async #later() {
    const id = this.#card.request;
    if (await attempt(this.#app, "rookery/requests/defer", { id })) {
      this.#app.announce("later");
      this.#options.later?.();
    }
  }

  async #answer(params) {
    const card = this.#card;
    this.#busy = true;
    this.#guard.shut();
    this.#say("…");
    const done = await answer(this.#app, card, params, () => this.reload());
    if (card !== this.#card) return;
    this.#busy = false;
    this.#say("");
    if (!done) return this.#guard.begin();
    if (isPending(card)) this.news({ request: card.request, state: outcome(params), at: Date.now() });
    this.#options.decided?.(card);
  }

  // ---- keys

  /** A key on the card; whether it was the card's. Letters in a field are the field's. */
  key(event) {
    if (!this.#card || isField(event.target)) return false;
    if (presses(event)) return false;
    if (this.#armed) {
      this.#armed = false;
      this.#drawFoot();
      if (event.key === "Enter") {
        this.#remember(event);
        return true;
      }
    }
    const typed = letter(event);
    if (typed === "o" && this.#options.open) {
      this.#options.open();
      return true;
    }
    if (typed === "a" && this.#handoff()) {
      void this.#accept(event);
      return true;
    }
    if (!typed || !isPending(this.#card)) return false;
    if (/[1-9]/.test(typed) && this.#card.questions?.length) return this.#digit(event, Number(typed));
    switch (typed) {
      case "a":
        if (this.#may("approve")) this.#approve(event);
        return true;
      case "A":
        if (this.#may("remember")) this.#arm(event);
        return true;
      case "d":
        if (this.#may("deny")) this.#startDenial(event);
        return true;
      case "s":
        if (this.#may("later") && !event.repeat) void this.#later();
        return true;
      default:
        return false;
    }
  }

  #digit(event, number) {
    const question = this.#card.questions[this.#question];
    if (event.repeat || !question || !this.#may("answer")) return true;
    const option = question.options[number - 1];
    if (option) this.#choose(event, option.label);
    else if (number === question.options.length + 1) {
      if (this.#passes(event)) this.body.querySelector(".own-answer input")?.focus();
    }
    return true;
  }
}

// A question and a plan are called that; everything else by its tool.
function titleOf(card) {
  if (card.kind === "question") return "Question";
  if (card.kind === "plan") return "Plan";
  return plain(card.tool || card.title) || words(card.kind);
}

/** What an answer comes to, until the daemon says so. */
function outcome(params) {
  if (params.answers) return "answered";
  return params.approved ? "approved" : "denied";
}

/** Where and how it would run. */
export function surroundings(card) {
  const rows = [];
  const add = (word, value) => rows.push(h("dt", {}, word), h("dd", {}, value));
  if (card.argv?.length) add("runs", JSON.stringify(card.argv));
  if (card.cwd) add("in", card.cwd);
  for (const [name, value] of Object.entries(card.env ?? {})) {
    if (value === null) add("without", name);
    else add("with", `${name}=${value}`);
  }
  return rows.length ? [h("dl", { class: "surroundings" }, ...rows)] : [];
}
