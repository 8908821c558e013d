// The inbox: what waits for a person, the most urgent first, with the card of the selected row beside it.
// On a phone it is the home screen, and a row whose request fits into it whole can be decided there.

import { button, h, keyed } from "../dom.js";
import { fileElement } from "../diff.js";
import { isField } from "../keys.js";
import { CardView, answer, isPending, settledText } from "./card.js";
import { Guard, READ_FIRST, guardOf, onReturn } from "./guard.js";
import { attempt, letter, moved, plain, presses, sessionPlace, words } from "./shown.js";

/** Rows that are asked for, and how many of those that were here stay when others are. */
const COUNT = 200;
const OVERLAP = 50;
/** How long the filter waits for another letter. */
const FILTER_MS = 150;
/** Rows that come this soon after the page was opened count as having been there. */
const OPENING_MS = 1000;
/** What fits into a row: lines and characters of a text, and of a diff. */
const FITS = { lines: 4, characters: 240, diff: 10, code: 600 };
/** Cards that are fetched for rows of a phone. */
const MOST_SMALL = 12;

const WAITING = ["approval_needed", "review_requested", "error", "blocked"];
const MOODS = {
  approval_needed: "waiting",
  review_requested: "waiting",
  error: "failed",
  blocked: "failed",
  completed: "done",
  informational: "quiet",
};

export function create(app, element) {
  return new Inbox(app, element);
}

class Inbox {
  #app;
  #rows = [];
  #selected = null;
  #index = 0;
  #wanted = null;
  #asked = null;
  #openedAt = 0;
  #whole = false;
  #isShown = false;
  #all = false;
  #first = 0;
  #from = 0;
  #goal = null;
  #small = new Map();
  #fetching = false;
  #guard;

  constructor(app, element) {
    this.#app = app;
    this.#guard = new Guard(guardOf(app));
    this.#all = app.prefs.get("inbox-all", false) === true;
    this.head = h("h1", {}, "Inbox");
    this.count = h("span", { class: "dim", id: "inbox-count" });
    this.notes = button("Notes", () => this.#toggleAll(), { class: "button", title: "Also what only informs (i)" });
    this.filter = h("input", {
      type: "search",
      class: "field filter",
      placeholder: "Filter",
      autocomplete: "off",
      spellcheck: false,
      aria: { label: "Filter the inbox" },
      on: { input: () => this.#filtered(), keydown: (event) => this.#filterKey(event) },
    });
    this.before = button("Earlier rows", () => this.#turn(this.#first - 1), { class: "button more-rows" });
    this.more = button("More rows", () => this.#turn(this.#first + this.#rows.length), { class: "button more-rows" });
    this.list = h("ul", { id: "inbox", tabIndex: -1, class: "rows-list inbox-list", role: "list", aria: { label: "Inbox" } });
    this.empty = h("p", { class: "none" }, "Nothing waits for you.");
    this.side = h("div", { class: "inbox-side" });
    this.back = button("‹ Inbox", () => this.#leaveWhole(), { class: "button back", aria: { label: "Back to the inbox" } });
    this.card = new CardView(app, {
      open: () => void this.#open(),
      show: (about) => this.#show(about),
      next: () => this.#next(),
      later: () => this.#leaveWhole(),
      dismiss: () => void this.#dismiss(),
    });
    this.side.append(this.back, this.card.element);
    const top = h("div", { class: "page-head" }, this.head, this.count, h("span", { class: "spring" }), this.notes, this.filter);
    const foot = h("p", { class: "page-hint hint" }, "enter all of it  i notes  x dismiss  / filter  esc back");
    this.main = h("div", { class: "inbox-main" }, top, this.before, this.list, this.more, this.empty, foot);
    this.root = h("div", { class: "inbox-page" }, this.main, this.side);
    this.#guard.watch(this.list);
    element.append(this.root);
    app.on("phone", () => this.#redraw());
    app.on("cards", (news) => this.#settled(news));
    app.on("open", () => {
      this.#small.clear();
      if (this.#isShown) this.#ask();
    });
    // Rows of a page that was hidden for long are read anew before they decide.
    onReturn((isLong) => {
      if (isLong) this.#small.clear();
      this.#redraw();
      void this.#fetchSmall();
    });
    app.on("prefs", () => this.#takePrefs());
  }

  show(place) {
    const isNew = !this.#isShown;
    this.#isShown = true;
    this.side.append(this.card.element);
    this.#wanted = place.item ?? null;
    if (isNew) {
      this.#openedAt = performance.now();
      this.#asked = null;
      this.#from = 0;
      this.#goal = null;
      this.#select(null);
      this.#small.clear();
      this.#ask();
      // Enter is the page's from here on, and no longer the button's that led here; a list decides nothing.
      if (!this.#app.isPhone() && !isField(document.activeElement)) this.list.focus({ preventScroll: true });
    }
    // A link or a notification to another item leads away from the one that is shown.
    if (this.#wanted && this.#wanted !== this.#selected) this.#select(null);
    if (this.#app.isPhone()) this.#setWhole(Boolean(this.#wanted));
    this.#fill(this.#app.scene?.inbox);
  }

  hide() {
    this.#isShown = false;
    this.filter.value = "";
    clearTimeout(this.later);
    this.#setWhole(false);
    this.#select(null);
    // Its ids are those of whichever card is shown.
    this.card.element.remove();
  }

  update(parts) {
    if (parts.inbox || parts.status) this.#fill(this.#app.scene.inbox);
  }

  #ask() {
    clearTimeout(this.later);
    void attempt(this.#app, "rookery/view/inbox", { from: this.#from, count: COUNT, all: this.#all, query: this.filter.value.trim() });
    this.notes.setAttribute("aria-pressed", String(this.#all));
  }

  // What the daemon keeps of it may come after the page.
  #takePrefs() {
    const all = this.#app.prefs.get("inbox-all", false) === true;
    if (all === this.#all) return;
    this.#all = all;
    this.#from = 0;
    if (this.#isShown) this.#ask();
  }

  #toggleAll() {
    this.#all = !this.#all;
    this.#from = 0;
    this.#app.prefs.set("inbox-all", this.#all);
    this.#ask();
  }

  // ---- the filter, and lists that are longer than what is here

  // A row that is left off leaves its card where it is; the first key goes to the first row.
  #filtered() {
    this.#from = 0;
    this.#goal = null;
    this.#index = -1;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.#ask(), FILTER_MS);
  }

  #filterKey(event) {
    if (event.isComposing) return;
    if (event.key === "Escape" && this.filter.value) {
      this.filter.value = "";
      this.#filtered();
    } else if (event.key === "Enter" || event.key === "Escape") this.#app.isPhone() ? this.filter.blur() : this.list.focus({ preventScroll: true });
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") this.#move(event);
    else return;
    event.preventDefault();
  }

  /** Whether a key moved in the list, beyond the rows that are here too. */
  #move(event) {
    const to = moved(event, this.#index, this.#rows.length);
    if (to === null) return false;
    const { total = 0 } = this.#app.scene.inbox ?? {};
    const ends = { Home: 0, g: 0, End: total - 1, G: total - 1 }[event.key];
    const by = { ArrowUp: -1, k: -1, ArrowDown: 1, j: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (!this.#turn(ends ?? this.#first + this.#index + by)) this.#select(to);
    return true;
  }

  /** Asks for other rows if one is not here, which is selected once it is. */
  #turn(wanted) {
    const { total = 0 } = this.#app.scene.inbox ?? {};
    const row = Math.max(0, Math.min(wanted, total - 1));
    if (row >= this.#first && row < this.#first + this.#rows.length) return false;
    const from = row < this.#first ? row + 1 + OVERLAP - COUNT : row - OVERLAP;
    const at = Math.max(0, Math.min(from, total - COUNT));
    if (at === this.#first) return false;
    this.#goal = { from: at, row };
    if (at !== this.#from) {
      this.#from = at;
      this.#ask();
    }
    return true;
  }

  #turned() {
    if (this.#rows.length === 0 && this.#first > 0 && this.#from > 0) {
      // They are gone; there may be others.
      this.#from = 0;
      return this.#ask();
    }
    if (this.#goal?.from !== this.#first) return;
    const at = Math.max(0, Math.min(this.#goal.row - this.#first, this.#rows.length - 1));
    this.#goal = null;
    if (this.#app.isPhone()) this.list.children[at]?.scrollIntoView({ block: "nearest" });
    else this.#select(at);
  }

  // ---- the list

  #fill(inbox) {
    if (!inbox || !this.#isShown) return;
    const before = this.#rows;
    this.#rows = inbox.rows ?? [];
    const counts = inbox.categories ?? {};
    const sum = (isWaiting) => Object.entries(counts).reduce((all, [word, count]) => all + (WAITING.includes(word) === isWaiting ? count : 0), 0);
    const toKnow = sum(false);
    this.#first = inbox.from ?? 0;
    const end = this.#first + this.#rows.length;
    const shown = inbox.total > this.#rows.length ? ` · ${this.#first + 1}–${end} of ${inbox.total}` : "";
    this.before.hidden = this.#first === 0;
    this.more.hidden = end >= inbox.total;
    // What waits for an answer is counted as on the button; the rest that waits is looked at.
    const asked = this.#app.scene.status?.waiting ?? 0;
    const others = sum(true) - asked;
    this.count.textContent = `${asked} wait${others > 0 ? ` · ${others} to look at` : ""}${toKnow ? ` · ${toKnow} to know` : ""}${shown}`;
    this.notes.hidden = toKnow === 0 && !this.#all;
    if (!sameRows(before, this.#rows)) this.#redraw();
    this.#turned();
    this.#follow();
    void this.#fetchSmall();
  }

  #redraw() {
    if (!this.#isShown) return;
    this.empty.hidden = this.#rows.length > 0;
    this.empty.textContent = this.filter.value.trim() ? "Nothing fits." : "Nothing waits for you.";
    // A row is as it was only if its text is, so a changed one is another element with a guard of its own.
    keyed(
      this.list,
      this.#rows,
      (row) => this.#keyOf(row),
      (row) => this.#rowElement(row),
      () => {},
    );
    for (const row of this.list.children) this.#mark(row);
    this.#guard.begin();
  }

  #keyOf(row) {
    const small = this.#small.get(row.request);
    const state = small ? `${small.digest}${small.state}` : "";
    return JSON.stringify([row, this.#app.isPhone(), state]);
  }

  #mark(element) {
    const isHere = element.dataset.item === this.#selected;
    if (isHere) element.setAttribute("aria-current", "true");
    else element.removeAttribute("aria-current");
  }

  #rowElement(row) {
    const data = { item: row.item, kind: row.kind };
    if (row.request) data.request = row.request;
    const age = h("time", { class: "age dim" });
    this.#app.ages(age, row.at);
    const open = h(
      "button",
      { type: "button", class: "row-main", on: { click: () => this.#tap(row) } },
      this.#app.mood(MOODS[row.category] ?? "quiet"),
      h("span", { class: "row-kind" }, words(row.kind)),
      h("span", { class: "row-session" }, plain(row.sessionTitle)),
      h("span", { class: "row-what" }, plain(row.title), row.subtitle ? h("span", { class: "dim" }, ` ${plain(row.subtitle)}`) : ""),
      row.deferred ? h("span", { class: "chip" }, "later") : "",
      age,
    );
    const made = h("li", { class: "entry", role: "listitem", data }, open);
    if (this.#app.isPhone()) this.#addSmall(made, row);
    return made;
  }

  // Keeps the selection at its item. A row that goes leaves nothing selected.
  #follow() {
    if (this.#selected) {
      const at = this.#rows.findIndex((row) => row.item === this.#selected);
      if (at >= 0) this.#followRequest(at);
      else if (!isPending(this.card.card)) this.#deselect();
      else {
        // Nothing of a decision that was half made is left; the card says how it was settled.
        this.card.disarm();
        this.#deselect();
      }
      return;
    }
    const isOpening = performance.now() < this.#openedAt + OPENING_MS;
    if (this.#wanted) {
      const at = this.#rows.findIndex((row) => row.item === this.#wanted);
      if (at >= 0 && (!this.card.card || this.#asked === this.#wanted)) this.#select(at);
      else if (at < 0 && !this.card.card) void this.#openUnlisted(this.#wanted);
      if (at >= 0) this.#asked = null;
    } else if (isOpening && this.#rows.length && !this.#app.isPhone()) this.#select(0);
  }

  // A row may be listed a moment before the request that it is about: then its card is read once more.
  #followRequest(at) {
    this.#index = at;
    const { request } = this.#rows[at];
    if (request && this.card.card && !this.card.card.request) void this.card.load({ request });
  }

  // What a link or a notification led to may only inform, or be settled by now, and so is not listed.
  async #openUnlisted(item) {
    if (this.#asked === item) return;
    this.#asked = item;
    await this.card.load({ item });
    const isGone = this.#wanted === item && this.#selected !== item && !this.card.card && this.#app.state === "open";
    if (isGone && this.#app.isPhone() && this.#isShown) this.#gone();
  }

  #gone() {
    this.#wanted = null;
    this.#setWhole(false);
    this.#app.toast("info", "that is settled already");
  }

  #deselect() {
    this.#selected = null;
    for (const row of this.list.children) this.#mark(row);
  }

  #select(at) {
    this.#goal = null;
    const row = at === null ? null : this.#rows[at];
    if (!row) {
      this.#deselect();
      this.card.clear();
      return;
    }
    this.#index = at;
    if (this.#selected === row.item) return;
    this.#selected = row.item;
    for (const element of this.list.children) this.#mark(element);
    this.list.children[at]?.scrollIntoView({ block: "nearest" });
    void this.card.load(row.request ? { request: row.request } : { item: row.item });
  }

  #row() {
    return this.#rows.find((row) => row.item === this.#selected);
  }

  #tap(row) {
    const at = this.#rows.indexOf(this.#rows.find((known) => known.item === row.item));
    if (row.about?.kind === "review") return this.#show(row.about);
    if (this.#app.isPhone()) {
      this.#wanted = row.item;
      this.#select(at);
      this.#setWhole(true);
      const place = { page: "inbox", item: row.item };
      // The card is there before the daemon knows: already now back leads to the list.
      this.#app.isGoingBack = false;
      this.#app.remember(place);
      this.#app.placeBefore = place;
      return void this.#app.go(place);
    }
    if (this.#selected !== row.item) this.#select(at);
    else if (row.about?.kind === "checkpoint") this.#show(row.about);
    else this.#setWhole(true);
  }

  #setWhole(whole) {
    this.#whole = whole;
    this.root.classList.toggle("whole", whole);
    if (this.#isShown) this.#app.page(whole ? "card" : "inbox");
    if (this.#isShown && whole) this.#app.focusPage();
    if (!whole && this.#app.isPhone()) this.#select(null);
  }

  #leaveWhole() {
    if (!this.#whole) return;
    this.#wanted = null;
    this.#setWhole(false);
    if (this.#app.isPhone()) void this.#app.go({ page: "inbox" });
  }

  #next() {
    this.#wanted = null;
    this.card.clear();
    this.#deselect();
    if (this.#app.isPhone()) return this.#leaveWhole();
    if (this.#rows.length === 0) return this.#leaveWhole();
    this.#select(Math.max(0, Math.min(this.#index, this.#rows.length - 1)));
  }

  async #open() {
    const row = this.#row();
    const about = row?.about ?? this.card.card?.about;
    if (about?.kind === "review") return this.#show(about);
    const session = this.card.card?.session ?? row?.session;
    if (!session) return;
    const place = await sessionPlace(this.#app, session);
    if (place) void this.#app.go(place);
    else this.#app.toast("warn", "its session is gone");
  }

  // Goes to the review or checkpoint that an item is about.
  #show({ kind, id }) {
    if (kind === "review") return void this.#app.go({ page: "review", review: id });
    this.#app.wantedCheckpoint = id;
    void this.#app.go({ page: "checkpoints" });
  }

  async #dismiss() {
    const shown = this.#row() ?? this.card.card;
    if (!shown?.item) return;
    if (shown.request) return this.#app.toast("warn", "a request is decided, not dismissed");
    if (await attempt(this.#app, "rookery/queue/resolve", { id: shown.item })) {
      this.#wanted = null;
      this.#select(null);
      this.#leaveWhole();
    }
  }

  // ---- rows of a phone

  #addSmall(made, row) {
    if (!row.request) return;
    const card = this.#small.get(row.request);
    const isFar = !card && this.#rows.indexOf(row) >= MOST_SMALL;
    if (!card && !isFar) return;
    if (card && !isPending(card)) {
      made.append(h("p", { class: "row-state dim" }, settledText(card)));
      return;
    }
    if (isFar || !fits(card)) {
      made.append(
        h(
          "div",
          { class: "row-buttons" },
          button("Review", () => this.#tap(row), { class: "button" }),
        ),
      );
      return;
    }
    made.append(...smallContent(card));
    if (this.#app.rights === "look") return;
    const deny = button("Deny", (event) => void this.#denySmall(event, row, card), {
      class: "button danger decide",
      data: { act: "deny" },
    });
    const approve = button("Approve", (event) => void this.#approveSmall(event, card), {
      class: "button primary decide",
      data: { act: "approve" },
    });
    made.append(h("div", { class: "row-buttons" }, deny, approve));
  }

  // Whether a request fits into its row is known from its card, and so is the digest of the answer.
  async #fetchSmall() {
    if (!this.#app.isPhone() || this.#fetching) return;
    this.#fetching = true;
    const failed = new Set();
    const isDue = ({ request }) => request && !this.#small.has(request) && !failed.has(request);
    try {
      // Rows that come meanwhile have their turn as well.
      while (this.#isShown && !this.#whole) {
        const row = this.#rows.slice(0, MOST_SMALL).find(isDue);
        if (!row) break;
        const card = await this.#app.call("rookery/view/card", { request: row.request }).catch(() => null);
        if (card) this.#small.set(row.request, card);
        else failed.add(row.request);
        this.#redraw();
      }
    } finally {
      this.#fetching = false;
    }
  }

  #passes(event) {
    if (this.#guard.passes(event)) return true;
    this.#app.announce(READ_FIRST);
    this.#app.toast("info", READ_FIRST);
    return false;
  }

  async #approveSmall(event, card) {
    if (!this.#passes(event)) return;
    this.#guard.shut();
    await this.#answerSmall(card, { approved: true });
  }

  async #denySmall(event, row, card) {
    if (!this.#passes(event)) return;
    const said = await this.#app.ask({
      title: `Deny ${plain(card.tool || card.title)}?`,
      lines: [plain(row.sessionTitle)],
      yes: "Deny",
      no: "Back",
      danger: true,
      guarded: true,
      field: { label: "Reason", placeholder: "Reason for the agent, if you like" },
    });
    if (!said) return;
    const message = said.text?.trim();
    await this.#answerSmall(card, message ? { approved: false, message } : { approved: false });
  }

  async #answerSmall(card, params) {
    const done = await answer(this.#app, card, params, () => this.#small.delete(card.request));
    if (done) {
      card.state = params.approved ? "approved" : "denied";
      card.settledAt = Date.now();
      this.#app.announce(card.state);
    }
    this.#redraw();
    void this.#fetchSmall();
  }

  #settled(news) {
    const card = this.#small.get(news.request);
    if (!card || card.state === news.state) return;
    Object.assign(card, { state: news.state, by: news.by, settledAt: news.at });
    this.#redraw();
  }

  // ---- keys

  key(event) {
    if (presses(event)) return false;
    if (!this.#whole && !this.card.hasField && this.#move(event)) return true;
    if (this.#whole && this.#scrollCard(event)) return true;
    if (this.card.key(event)) return true;
    if (event.key === "Escape" && this.#whole) {
      this.#leaveWhole();
      return true;
    }
    if (event.key === "Escape" && this.filter.value) {
      this.filter.value = "";
      this.#filtered();
      return true;
    }
    if (event.key === "Enter" && !event.repeat) return this.#enter();
    switch (letter(event)) {
      case "/":
        this.#leaveWhole();
        this.filter.focus();
        return true;
      case "i":
        this.#toggleAll();
        return true;
      case "x":
        void this.#dismiss();
        return true;
      default:
        return false;
    }
  }

  #enter() {
    const row = this.#row();
    if (["review", "checkpoint"].includes(row?.about?.kind)) this.#show(row.about);
    else if (this.card.card && this.card.card.request && !isPending(this.card.card)) this.#next();
    else if (row) this.#setWhole(true);
    return true;
  }

  #scrollCard(event) {
    const by = { ArrowUp: -40, k: -40, ArrowDown: 40, j: 40, PageUp: -300, PageDown: 300 }[event.key];
    if (by === undefined || event.ctrlKey || event.altKey || event.metaKey) return false;
    this.card.body.scrollBy(0, by);
    return true;
  }
}

/** Whether the whole of what would be done fits into a row. */
export function fits(card) {
  if (card.kind !== "approval" || card.questions?.length || card.plan) return false;
  if (Object.keys(card.env ?? {}).length > 0) return false;
  const diff = card.diff ?? [];
  const text = card.lines ?? [];
  const isShort = (lines, count, characters) => lines.length <= count && lines.join("").length <= characters;
  if (diff.length === 0) return text.length > 0 && isShort(text, FITS.lines, FITS.characters);
  // Lines beside a diff are what it does not show.
  if (diff.length > 1 || text.length > 0 || diff[0].cut || !diff[0].hunks) return false;
  const code = diff[0].hunks.flatMap((hunk) => hunk.lines ?? []).map((line) => line.text ?? "");
  return isShort(code, FITS.diff, FITS.code);
}

// All that is decided by, in a row: nothing of it is cut.
function smallContent(card) {
  const diff = card.diff ?? [];
  const made = diff.length ? diff.map(fileElement) : [h("pre", { class: "row-lines" }, card.lines.join("\n"))];
  if (card.cwd) made.push(h("p", { class: "dim row-cwd" }, `in ${card.cwd}`));
  return made;
}

function sameRows(before, after) {
  return JSON.stringify(before) === JSON.stringify(after);
}
