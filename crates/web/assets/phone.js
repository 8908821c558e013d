// The phone: a bar with four places below, lists that the sidebar is in a wide window, a terminal with its
// own head and keys, and a page that stays above the touch keyboard. Elsewhere it shows nothing.

import { attr, button, clear, h } from "./dom.js";
import { KeyBar } from "./keybar.js";
import { create as createAgents } from "./pages/agents.js";
import { create as createMore } from "./pages/more.js";
import { plain } from "./pages/shown.js";
import { watch } from "./touch.js";

const PLACES = [
  ["inbox", "Inbox", "✉"],
  ["agents", "Agents", "◇"],
  ["chats", "Chats", "❯"],
  ["more", "More", "⋯"],
];
/** Which button of the bar a page belongs to. */
const OF = { inbox: "inbox", card: "inbox", agents: "agents", workspace: "agents", threads: "chats", thread: "chats" };

/** Where a page's `‹` leads. */
const UP = { thread: "threads", review: "reviews", reviews: "more", checkpoints: "more", worktrees: "more", audit: "more", settings: "more", help: "more" };

/** Called once by the frame. */
export function start(app) {
  new Phone(app).begin();
}

class Phone {
  #app;
  #local = null;
  #pages = new Map();

  constructor(app) {
    this.#app = app;
    this.root = document.documentElement;
    this.frame = document.getElementById("frame");
    this.page = document.getElementById("page");
  }

  begin() {
    const app = this.#app;
    this.#makeBar();
    this.#makeHead();
    this.keys = new KeyBar(app, this.#actions());
    document.getElementById("status").after(this.keys.element, this.bar);
    this.page.before(this.head);
    this.touch = watch(app, this.page, (by) => this.#step(by));
    this.#wrap();
    app.on("scene", (parts) => this.#update(parts));
    app.on("state", () => this.#draw());
    app.on("open", () => this.#draw());
    app.on("page", () => this.#draw());
    app.on("phone", () => {
      this.#leaveLocal();
      this.#draw();
    });
    this.#watchRoom();
    this.#draw();
  }

  // ---- places that the daemon does not know

  // Going anywhere leaves a local list, also to where the viewer is already; its keys are its own.
  #wrap() {
    const app = this.#app;
    const { go, pageKey, page } = { go: app.go, pageKey: app.pageKey, page: app.page };
    app.go = (place) => {
      this.#leaveLocal();
      return go.call(app, place);
    };
    app.pageKey = (event) => (this.#local ? false : pageKey.call(app, event));
    app.page = (word) => {
      page.call(app, word);
      if (this.#local) this.page.dataset.page = this.#local;
      this.#draw();
    };
  }

  #showLocal(word) {
    const create = { agents: createAgents, more: createMore }[word];
    if (!this.#pages.has(word)) {
      const element = h("section", { class: "page-body local", data: { local: word } });
      this.page.append(element);
      this.#pages.set(word, { ...create(this.#app, element), element });
    }
    this.#local = word;
    this.root.dataset.local = word;
    for (const [known, { element }] of this.#pages) {
      attr(element, "data-shown", known === word ? "" : null);
      // The frame hides every page but its own.
      element.hidden = false;
    }
    this.page.dataset.page = word;
    this.#pages.get(word).show();
    this.#draw();
  }

  #leaveLocal() {
    if (!this.#local) return;
    this.#local = null;
    delete this.root.dataset.local;
    this.#app.page(null);
  }

  // ---- the bar

  #makeBar() {
    this.bar = h("nav", { id: "bar", aria: { label: "Main" } });
    for (const [word, label, icon] of PLACES) {
      this.bar.append(
        h(
          "button",
          { type: "button", data: { go: word }, on: { click: () => this.#go(word) } },
          h("span", { class: "bar-icon", aria: { hidden: "true" } }, icon),
          h("span", {}, label),
          h("span", { class: "bar-count" }),
        ),
      );
    }
  }

  #go(word) {
    if (word === "inbox") {
      // The list, also from one of its cards.
      this.#leaveLocal();
      void this.#app.go({ page: "inbox" });
    } else if (word === "chats") void this.#app.go({ page: "threads" });
    else this.#showLocal(word);
  }

  // ---- the head of a terminal

  #makeHead() {
    this.up = button("‹", () => this.#goUp(), { class: "button back up", aria: { label: "Back" } });
    this.back = button("‹", () => this.#showLocal("agents"), { class: "button back", aria: { label: "Agents" } });
    this.title = h("span", { class: "phone-title" });
    this.which = h("span", { class: "dim" });
    const more = button(
      "⋯",
      () => {
        this.keys.more.hidden = !this.keys.more.hidden;
      },
      { class: "button", aria: { label: "More keys and actions" } },
    );
    this.head = h("header", { id: "phone-head", class: "phone-head" }, this.back, this.title, this.which, h("span", { class: "spring" }), more);
    this.headMore = more;
  }

  #actions() {
    const app = this.#app;
    return [
      ["Find", () => app.act("find")],
      ["Fit to this screen", () => app.setFit("own")],
      ["Follow", () => app.setFit("follow")],
      ["Usual font", () => this.touch.reset()],
      ["Split right", () => app.act("split_right")],
      ["Split below", () => app.act("split_below")],
      ["New tab", () => app.act("new_tab")],
      ["Close tab", () => app.act("close_tab")],
    ];
  }

  #tabs() {
    return (this.#app.scene?.strip?.groups ?? []).flatMap((group) => group.tabs);
  }

  #step(by) {
    if (!this.#app.isPhone() || this.#local || this.#app.word() !== "workspace") return;
    const tabs = this.#tabs();
    const to = tabs[tabs.findIndex((tab) => tab.id === this.#app.terminal) + by];
    if (!to) return;
    void this.#app.go({ page: "workspace", terminal: to.id });
    this.#app.announce(plain(to.title));
  }

  // ---- drawing

  #update(parts) {
    if (parts.page && this.#local) this.#leaveLocal();
    if (this.#local) this.#pages.get(this.#local).update(parts);
    this.#draw();
  }

  #draw() {
    const app = this.#app;
    const isPhone = app.isPhone();
    const word = this.#local ?? (this.page.dataset.page || "workspace");
    const isTerminal = word === "workspace";
    const isOn = app.state === "open" || app.state === "lost";
    this.bar.hidden = !isPhone || !isOn;
    this.head.hidden = !isPhone || !isOn || !isTerminal;
    // Keys are for screens that are touched, of whatever size.
    this.keys.element.hidden = !app.isTouch() || !isOn || !isTerminal || app.rights !== "full" || app.terminal === null;
    attr(this.root, "data-keybar", this.keys.element.hidden ? null : "");
    if (!this.keys.element.hidden) this.keys.begin(app.terminal);
    this.headMore.hidden = this.keys.element.hidden;
    attr(this.root, "data-place", isPhone ? word : null);
    const here = OF[word] ?? "more";
    for (const made of this.bar.children) attr(made, "aria-current", made.dataset.go === here ? "page" : null);
    const waiting = app.scene?.status?.waiting ?? 0;
    const inbox = this.bar.firstElementChild;
    clear(inbox.lastElementChild).append(waiting ? String(waiting) : "");
    attr(inbox, "aria-label", waiting ? `Inbox, ${waiting} waiting` : "Inbox");
    if (isTerminal) this.#drawHead();
    this.#drawUp(isPhone ? UP[word] : undefined);
  }

  // The way back to the list that a page was reached from, at the beginning of its head.
  #drawUp(to) {
    const head = to && this.#app.current?.element.querySelector(".page-head");
    if (!head) return this.up.remove();
    if (head.firstElementChild !== this.up) head.prepend(this.up);
    this.upTo = to;
  }

  #goUp() {
    if (this.upTo === "more") this.#showLocal("more");
    else void this.#app.go({ page: this.upTo });
  }

  #drawHead() {
    const tabs = this.#tabs();
    const at = tabs.findIndex((tab) => tab.id === this.#app.terminal);
    this.title.textContent = plain(tabs[at]?.title) || "Terminal";
    this.which.textContent = tabs.length > 1 && at >= 0 ? `${at + 1} of ${tabs.length}` : "";
  }

  // ---- the room above the touch keyboard

  #watchRoom() {
    const view = window.visualViewport;
    if (!view) return;
    const fit = () => {
      // While the person zooms, the page is left alone.
      if (view.scale > 1.01) return;
      this.root.style.setProperty("--view-height", `${view.height}px`);
      this.root.style.setProperty("--view-top", `${view.offsetTop}px`);
      // A narrow window with a keyboard of its own has none that comes up.
      const isUp = window.innerHeight - view.height > 120 || (this.#app.isTouch() && this.#isTyping());
      this.root.toggleAttribute("data-keyboard", this.#app.isPhone() && isUp);
    };
    view.addEventListener("resize", fit);
    view.addEventListener("scroll", fit);
    // What is pressed takes the keyboard from a field before it is clicked: it must not move away meanwhile.
    let isPressed = false;
    const later = () => setTimeout(() => isPressed || fit());
    for (const [name, is] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
      const pressed = () => {
        isPressed = is;
        later();
      };
      document.addEventListener(name, pressed, true);
    }
    // At once where nothing is pressed by it: until then a finger aims at what is about to move.
    document.addEventListener("focusin", () => (this.#isTyping() ? fit() : later()));
    document.addEventListener("focusout", later);
    window.addEventListener("click", fit);
    fit();
  }

  #isTyping() {
    const active = document.activeElement;
    return active instanceof HTMLTextAreaElement || (active instanceof HTMLInputElement && ["text", "search"].includes(active.type));
  }
}
