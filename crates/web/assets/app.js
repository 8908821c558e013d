// The page: joins the link, the frame around the page's content, and the pages.
//
// A page is a module `pages/WORD.js` (`workspace.js` for terminals) that exports
// `create(app, element)` → `{show(place), update(parts), key(event) → boolean, hide()}`:
//   element        an empty <section> inside main#page that belongs to the page
//   show(place)    it is shown, or its place changed; `place` is the scene's `page`
//   update(parts)  parts of the scene that changed, and once after `show` all of them
//   key(event)     a keydown that no text field has; true if it was taken
//   hide()         another page is shown
// What a page may use of `app`:
//   call(method, params) → Promise, notify(method, params) → boolean      JSON-RPC on the socket
//   scene, rights, settings, viewer, daemon, keys, isDesk, state, mirror   as the daemon last said
//   go(place), back(), act(action), page(word)                            where the viewer is
//   announce(text), alert(text), toast(tone, text), message(tone, text)   what is told
//   ask({title, lines, yes, no, field, danger, choices}) → Promise        a question of the page
//   on(kind, handler) → off()    cards threads notices clip scene open lost state input terms focus phone page prefs
//   isPhone(), prefs, drafts, age(ms), ages(element, ms), mood(word), focus(), copy(text)
//   terminal, term(t), panes, type.key / type.text / type.paste           terminals

import { actions, isLocal } from "./actions.js";
import { age, button, h, mood, text } from "./dom.js";
import { Find } from "./find.js";
import { drafts, keep, kept, Prefs } from "./kept.js";
import { Keymap } from "./keymap.js";
import { Keys } from "./keys.js";
import { Link, NOT_SENT } from "./link.js";
import { Overlay, unsureLine } from "./overlay.js";
import { Pair, session, takeCode } from "./pair.js";
import { Palette } from "./palette.js";
import { Selection } from "./selection.js";
import { room } from "./room.js";
import { Sidebar } from "./sidebar.js";
import { Status } from "./status.js";
import { Tabs } from "./tabs.js";
import { paintTheme } from "./theme.js";
import { typing } from "./typing.js";
import { create as createWorkspace } from "./workspace.js";

const VIEW = "rookery/view/";
const PAGES = ["inbox", "thread", "threads", "review", "reviews", "checkpoints", "worktrees", "audit", "settings", "help"];
const EXTRAS = ["./a11y.js", "./phone.js", "./pwa.js"];
/** Which build this page is of: the name of its directory. */
const BUILD = new URL(import.meta.url).pathname.split("/")[2] ?? "";
class App {
  constructor() {
    this.root = document.documentElement;
    this.state = "connecting";
    this.rights = "look";
    this.settings = kept("settings", { font: { family: "", size: 14 } });
    this.viewer = null;
    this.daemon = {};
    this.keys = [];
    this.keymap = new Keymap();
    this.isDesk = false;
    this.deviceName = kept("name", "");
    this.fit = kept("fit", null);
    this.panes = new Map();
    this.pages = new Map();
    this.dirty = new Set();
    this.aim = null;
    this.news = {};
    this.handlers = new Map();
    this.ageing = new Map();
    this.lostAt = null;
    this.link = new Link(this.linkHandlers());
    this.complain = this.complain.bind(this);
    this.type = { key: (t, press) => this.typeKey(t, press), text: (t, words) => this.typeText(t, words), paste: (t, words) => this.typePaste(t, words) };
    this.prefs = new Prefs(this);
    this.ownFont = this.prefs.local.get("font", null);
    this.drafts = drafts;
  }

  start() {
    this.element = document.getElementById("page");
    this.onPhone();
    this.overlay = new Overlay(this);
    this.selection = new Selection(this);
    this.workspace = createWorkspace(this, this.section("workspace"));
    this.pages.set("workspace", this.workspace);
    this.keyboard = new Keys(this);
    this.sidebar = new Sidebar(this);
    this.tabs = new Tabs(this);
    this.status = new Status(this);
    this.palette = new Palette(this, isLocal);
    this.find = new Find(this);
    this.pair = new Pair((name) => {
      this.deviceName = name;
      keep("name", name);
      this.enter();
    });
    this.buttons();
    this.listen();
    paintTheme(kept("theme", null));
    setInterval(() => document.hidden || this.paintAges(), 60000);
    this.extras();
    window.addEventListener("hashchange", () => this.takeLink());
    if (!this.takeLink()) this.enter();
  }

  /** A link that pairs was opened, here or in a page that was there already. */
  takeLink() {
    const code = takeCode();
    if (code) this.unknown(code);
    return code !== null;
  }

  async extras() {
    for (const name of EXTRAS) {
      try {
        (await import(name)).start(this);
      } catch (error) {
        console.error(name, error);
      }
    }
  }

  buttons() {
    const on = (id, run) => document.getElementById(id).addEventListener("click", run);
    on("inbox-button", () => this.act("open_inbox"));
    on("commands-button", () => this.act("command_palette"));
    on("more-button", (event) => this.more(event.currentTarget));
    on("skip", () => this.focus(true));
    on("again", () => this.unknown(null));
    on("reload", () => location.reload());
    on("retry", () => this.link.isWanted ? this.link.hurry() : this.enter());
  }

  more(anchor) {
    const box = anchor.getBoundingClientRect();
    const isFull = this.rights === "full";
    const rows = [["Inbox", "open_inbox"], ["Threads", "open_threads"], ["Reviews", "open_reviews"], ["Checkpoints", "open_checkpoints"], ["Worktrees", "open_worktrees"], ["Audit", "open_audit"]];
    this.overlay.menu(box.right, box.bottom + 4, [
      ...rows.map(([label, action]) => [label, () => this.act(action)]),
      null,
      ["New thread", () => this.act("new_thread"), this.rights === "look"],
      ["Find", () => this.act("find"), this.terminal === null],
      ["Split right", () => this.press(() => this.act("split_right")), !isFull],
      ["Split below", () => this.press(() => this.act("split_below")), !isFull],
      [this.fit === "follow" ? "Fit to this screen" : "Follow other screens", () => this.press(() => this.setFit(this.fit === "follow" ? "own" : "follow")), !isFull],
      null,
      ["Settings", () => this.act("settings")],
      ["Help", () => this.act("help")],
    ]);
  }

  // The link.

  linkHandlers() {
    return {
      params: () => this.openParams(),
      opened: (opened) => this.opened(opened),
      changed: (frame, changed) => this.changed(frame, changed),
      lost: (lost) => this.lose(lost),
      refused: (error) => this.refused(error),
      entry: async () => (await session()).state,
    };
  }

  async enter() {
    this.setState("connecting");
    const known = await session();
    if (known.state === "out") return this.unknown(null);
    this.deviceName = known.name ?? this.deviceName;
    if (known.build && this.upgrade(known.build)) return;
    this.link.enter();
  }

  /** This device is not known: it can be paired. */
  unknown(code) {
    this.link.leave();
    this.setState("pairing");
    this.pair.show(code);
  }

  openParams() {
    const phone = this.isPhone();
    const place = history.state?.place ?? kept("place", null);
    const fit = this.fit ?? (phone || this.isTouch() ? "follow" : undefined);
    const params = { name: this.deviceName || "browser", single: phone || undefined, fit, place: place ?? (phone ? { page: "inbox" } : undefined), ...this.workspace.room() };
    if (kept("check", false)) params.check = true;
    return params;
  }

  chose({ settings, keys }) {
    this.settings = settings ?? {};
    keep("settings", { font: this.settings.font });
    this.keys = keys ?? [];
    this.keymap = new Keymap(this.keys, this.settings.prefix);
  }

  opened(opened) {
    const wasLost = this.lostAt;
    this.lostAt = null;
    Object.assign(this, { rights: opened.rights, viewer: opened.viewer, isDesk: opened.isDesk, daemon: opened.daemon ?? {} });
    this.chose(opened);
    if (this.fit === null) this.fit = this.isPhone() || this.isTouch() || this.rights !== "full" ? "follow" : "own";
    this.selection.clear();
    for (const pane of this.panes.values()) pane.known = null;
    this.isWhole = true;
    this.setState("open");
    this.tellFocus();
    this.sentRoom = null;
    this.tellRoom();
    this.schedule();
    this.emit("open", opened);
    this.prefs.load();
    if (this.deviceName === "") session().then((known) => (this.deviceName = known.name ?? ""));
    if (wasLost) this.cameBack(wasLost);
  }

  /** After a return: what may be lost is told, and a page of an older build loads the new one. */
  cameBack(lost) {
    const line = unsureLine(lost);
    if (line) {
      this.toast("warn", line);
      this.alert(line);
    } else this.announce("the daemon is back");
    session().then((known) => known.build && this.upgrade(known.build));
  }

  /** Loads the page anew if the daemon has another build of it, once for each build. */
  upgrade(build) {
    if (build === BUILD || kept("reloaded", "") === build) return false;
    keep("reloaded", build);
    location.reload();
    return true;
  }

  changed(frame, changed) {
    if (changed.scene) {
      this.news = { ...this.news, ...changed.scene };
      this.tookScene(changed.scene);
    }
    for (const t of changed.terms) this.dirty.add(t);
    for (const entry of frame.terms ?? []) if (entry.found) this.find.more(entry.t, entry.found);
    if (frame.raise) window.focus();
    if (frame.clip) this.takeClip(frame.clip);
    if (frame.bye) this.bye = frame.bye;
    this.extra = { cards: frame.cards, threads: frame.threads, notices: frame.notices, clip: frame.clip ? [frame.clip] : null };
    for (const [kind, list] of Object.entries(this.extra)) if (list?.length > 0) for (const one of list) this.emit(kind, one);
    for (const notice of frame.notices ?? []) this.takeNotice(notice);
    if (document.hidden) return this.paint();
    this.schedule();
  }

  lose(lost) {
    if (lost.wasOpen || !this.lostAt) this.lostAt = { ...lost };
    this.keyboard.setPrefixed(false);
    if (lost.wasOpen) for (const pane of this.panes.values()) pane.back = pane.term ? pane.term.view[1] - pane.term.view[0] : 0;
    if (this.state === "connecting" && !lost.wasOpen && !this.viewer) {
      this.lostAt = { ...lost };
    }
    const isFresh = this.state !== "lost";
    if (isFresh) this.awaySince = Date.now();
    this.setState("lost");
    if (isFresh) {
      this.alert("The daemon is away");
      this.emit("lost", { unsent: this.lostAt.unsent, text: this.lostAt.text });
    }
    this.showLost();
  }

  showLost() {
    if (this.state !== "lost") return;
    const lost = this.lostAt ?? {};
    const seconds = Math.round((Date.now() - this.awaySince) / 1000);
    const draft = document.getElementById(this.word() === "thread" ? "composer" : "type")?.value ?? "";
    this.root.style.setProperty("--away", `"away ${seconds} s"`);
    this.overlay.lost({ unsure: unsureLine(lost), draft, seconds, bye: lost.bye });
  }

  refused(error) {
    if (error.code === -32011 && error.data?.supported && this.upgrade(`v${error.data.supported.join()}`)) return;
    if (this.viewer === null && error.code === 4401) return this.unknown(null);
    this.setState("denied");
    const isKnown = error.code !== 4401;
    const title = isKnown ? "The daemon refuses this page" : "This device no longer has access";
    text(document.getElementById("denied-title"), title);
    text(document.getElementById("denied-why"), isKnown ? error.message : "It was revoked, or its pairing ran out.");
    // A device that is known has nothing to pair for.
    document.getElementById("again").hidden = isKnown;
    document.getElementById("reload").hidden = !isKnown;
    this.alert(title);
  }

  setState(state) {
    if (this.state === state && this.root.dataset.state === state) return;
    this.state = state;
    this.root.dataset.state = state;
    // Only what counts the seconds needs a timer; a page that is open sleeps.
    clearInterval(this.counting);
    if (state === "lost") this.counting = setInterval(() => document.hidden || this.showLost(), 1000);
    document.getElementById("pair").hidden = state !== "pairing";
    document.getElementById("denied").hidden = state !== "denied";
    document.getElementById("lost").hidden = state !== "lost";
    document.getElementById("frame").inert = state === "pairing" || state === "denied";
    this.emit("state", state);
  }

  // Painting.

  get scene() {
    return this.link.mirror.scene;
  }

  get mirror() {
    return this.link.mirror;
  }

  term(t) {
    return this.link.mirror.terms.get(t) ?? null;
  }

  /** The terminal that gets what is typed. */
  get target() {
    return this.aim ?? this.terminal;
  }

  get terminal() {
    return this.scene.panes?.focused ?? null;
  }

  focused() {
    return this.terminal;
  }

  repaint(t) {
    this.dirty.add(t);
    this.schedule();
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => this.paint());
  }

  /** Paints all that is new, and tells the daemon once it is on the display. */
  paint() {
    this.scheduled = false;
    const parts = this.isWhole ? { ...this.scene } : this.news;
    this.isWhole = false;
    this.news = {};
    if (Object.keys(parts).length > 0) this.paintScene(parts);
    const touched = [...this.dirty];
    this.dirty.clear();
    for (const t of touched) {
      this.panes.get(t)?.paint();
      this.find.repaint(t);
    }
    this.placeKeys();
    this.overlay.placeToasts();
    this.status.paintOwner();
    if (touched.length > 0) this.emit("terms", touched);
    this.painted();
  }

  painted() {
    const { n, input } = this.link.mirror;
    if (!this.link.isOpen) return;
    this.root.dataset.frame = n;
    if (this.root.dataset.input !== String(input)) {
      this.root.dataset.input = input;
      this.emit("input", input);
    }
    if (n === 0 || this.acked === n) return;
    this.acked = n;
    // After the picture: a task that is posted now runs once it was drawn.
    if (document.hidden) this.link.painted(n);
    else setTimeout(() => this.link.isOpen && this.link.painted(n));
  }

  paintScene(parts) {
    if (parts.chosen) this.chose(parts.chosen);
    if (parts.theme) {
      paintTheme(parts.theme);
      keep("theme", parts.theme);
    }
    if (parts.page !== undefined || parts.status !== undefined) this.paintTitle();
    this.sidebar.update(parts);
    this.tabs.update(parts);
    this.status.update(parts);
    this.overlay.update(parts);
    this.palette.update(parts);
    if (parts.page !== undefined) this.showPage();
    this.current?.update(parts);
    if (parts.panes !== undefined) this.find.place();
    this.emit("scene", parts);
    if (parts.panes !== undefined) this.aim = null;
    if (parts.panes !== undefined && this.focusedBefore !== this.terminal) {
      this.focusedBefore = this.terminal;
      this.selection.clear();
      this.focus();
    }
  }

  paintTitle() {
    const waiting = this.scene.status?.waiting ?? 0;
    const title = waiting > 0 ? `(${waiting}) Rookery` : "Rookery";
    if (document.title !== title) document.title = title;
    const inbox = document.getElementById("inbox-button");
    inbox.setAttribute("aria-label", `Inbox, ${waiting} waiting`);
    text(inbox.querySelector(".count"), waiting > 0 ? String(waiting) : "");
    inbox.toggleAttribute("data-waiting", waiting > 0);
  }

  /** A request that is new is told; it opens nothing and takes no key. */
  tookScene(parts) {
    if (!parts.status) return;
    const waiting = parts.status.waiting ?? 0;
    if (this.waitingBefore !== undefined && waiting > this.waitingBefore) this.alert(waiting === 1 ? "1 request waits" : `${waiting} requests wait`);
    this.waitingBefore = waiting;
  }

  // Pages.

  /** The word of the page that is shown. */
  word() {
    const word = this.scene.page?.page ?? "workspace";
    return word === "workspace" || PAGES.includes(word) ? word : "workspace";
  }

  section(word) {
    const element = h("section", { class: "page-body", tabIndex: -1, data: { for: word }, hidden: true });
    this.element.append(element);
    return element;
  }

  async showPage() {
    const word = this.word();
    const place = this.scene.page ?? { page: "workspace" };
    this.remember(place);
    let page = this.pages.get(word);
    // A page that shows this place already may have given itself a word of its own.
    if (!page || page !== this.current || JSON.stringify(this.placeBefore) !== JSON.stringify(this.scene.page)) this.page(null);
    const element = page?.element ?? this.section(word);
    if (!page) {
      page = { show() {}, hide() {}, update() {}, key: () => false, element };
      this.pages.set(word, page);
      try {
        const made = (await import(`./pages/${word}.js`)).create(this, element);
        page = Object.assign(made, { element });
      } catch (error) {
        // A browser keeps that a module failed: only a page that is loaded anew asks for it again.
        console.error(word, error);
        element.append(h("p", { class: "page-broken" }, "This page could not be loaded. ", button("Load again", () => location.reload())));
      }
      this.pages.set(word, page);
      if (this.word() !== word) return;
    }
    const isOther = this.current !== page;
    if (isOther) {
      this.current?.hide();
      for (const element of this.element.children) element.hidden = element.dataset.for !== word;
      this.current = page;
      if (word !== "workspace") {
        this.find.close();
        this.focusPage();
      }
    }
    if (isOther || JSON.stringify(this.placeBefore) !== JSON.stringify(this.scene.page)) {
      this.placeBefore = this.scene.page;
      page.show(this.scene.page ?? place);
    }
    if (isOther) page.update(this.scene);
    this.emit("page", word);
    if (word === "workspace") this.focus();
  }

  /** Keys are the page's from here on, and no longer those of the button or row that led to it. */
  focusPage() {
    if (document.activeElement?.closest("#sidebar, #head, #status, #bar, #phone-head")) this.current.element.focus({ preventScroll: true });
  }

  /** Sets `data-page`: `card` while a card has the whole page, null for the page's own word. */
  page(word) {
    this.element.dataset.page = word ?? this.word();
  }

  pageKey(event) {
    return this.current?.key?.(event) === true;
  }

  pagePaste(event) {
    return this.current?.paste?.(event) === true;
  }

  /** Back and reload keep the place. */
  remember(place) {
    keep("place", place);
    const before = history.state?.place;
    // While the way back is gone, what is shown is no step of its own.
    if (this.isGoingBack) return;
    const isSame = JSON.stringify(before) === JSON.stringify(place);
    if (isSame) return;
    // On a phone a card is a step of its own: back leads to the list.
    const isOther = before && (before.page !== place.page || (this.isPhone() && place.page === "inbox"));
    if (isOther) history.pushState({ place }, "");
    else history.replaceState({ place }, "");
  }

  async go(place) {
    // What is typed on the way is for where it leads.
    this.aim = place.page === "workspace" && place.terminal !== this.terminal ? (place.terminal ?? null) : null;
    try {
      await this.call(`${VIEW}go`, place);
      // A card that was left before the daemon's picture had it is no change of that picture.
      const here = this.scene.page;
      const isInbox = here?.page === "inbox" && place.page === "inbox" && this.current === this.pages.get("inbox");
      if (isInbox && (here.item ?? null) === (place.item ?? null)) this.current.show(here);
    } catch (error) {
      this.aim = null;
      this.complain(error);
    }
  }

  back() {
    return this.go({ page: "workspace" });
  }

  // What is told.

  takeNotice(notice) {
    if (notice.gone !== undefined) {
      this.noticed?.get(notice.gone) && this.overlay.dropToast(this.noticed.get(notice.gone));
      return;
    }
    this.noticed ??= new Map();
    const shown = this.overlay.toast(notice.urgency === "high" ? "waiting" : "info", notice.title, notice.body ?? "", notice.page ? () => this.go(notice.page) : null);
    this.noticed.set(notice.id, shown);
    if (this.noticed.size > 200) this.noticed.delete(this.noticed.keys().next().value);
  }

  announce(words) {
    tell(document.getElementById("announce"), words);
  }

  alert(words) {
    tell(document.getElementById("alert"), words);
  }

  toast(tone, words) {
    this.overlay.toast(tone, words);
  }

  message(tone, words) {
    this.status.message(tone, words);
    this.announce(words);
  }

  ask(question) {
    return this.overlay.ask(question);
  }

  complain(error) {
    if (error?.code === NOT_SENT) return this.refuse();
    this.message("warn", error?.message ?? String(error));
  }

  // Calls and events.

  call(method, params) {
    return this.link.call(method, params);
  }

  notify(method, params) {
    return this.link.notify(method, params);
  }

  on(kind, handler) {
    const all = this.handlers.get(kind) ?? new Set();
    this.handlers.set(kind, all.add(handler));
    return () => all.delete(handler);
  }

  emit(kind, value) {
    for (const handler of this.handlers.get(kind) ?? []) {
      try {
        handler(value);
      } catch (error) {
        console.error(kind, error);
      }
    }
  }

  age(ms) {
    return age(ms);
  }

  mood(word) {
    return mood(word);
  }

  /** Keeps the text of an element at the age of a moment. */
  ages(element, ms) {
    this.ageing.set(element, ms);
    text(element, age(ms));
  }

  paintAges() {
    for (const [element, ms] of this.ageing) {
      if (element.isConnected) text(element, age(ms));
      else this.ageing.delete(element);
    }
  }
}

/** Says something to readers, also if it is what was said last. */
function tell(region, words) {
  region.replaceChildren();
  setTimeout(() => region.replaceChildren(h("span", {}, words)));
}

Object.assign(App.prototype, actions, typing, room);

const app = new App();
app.start();

Object.defineProperty(window, "rookery", {
  value: Object.freeze({
    mirror: () => ({ ...JSON.parse(JSON.stringify(app.mirror)), waiting: app.link.inputs.waiting.length }),
    version: { build: BUILD, link: 1, daemon: () => app.daemon.version ?? null },
    resync: () => app.notify(`${VIEW}resync`, { scene: true, terms: [...app.mirror.terms.keys()] }),
  }),
});
