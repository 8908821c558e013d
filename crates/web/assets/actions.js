// What actions do. Most are the daemon's; what is only about this page is done here. Part of `App`.

import { isOpened } from "./mouse.js";
import { keep } from "./kept.js";
import { exact } from "./pages/shown.js";

const VIEW = "rookery/view/";
const GO = {
  open_inbox: { page: "inbox" }, open_threads: { page: "threads" }, open_reviews: { page: "reviews" }, open_checkpoints: { page: "checkpoints" },
  open_worktrees: { page: "worktrees" }, open_audit: { page: "audit" }, settings: { page: "settings" }, help: { page: "help" },
};
const SCROLL = {
  scroll_page_up: (rows) => ({ by: -rows }), scroll_page_down: (rows) => ({ by: rows }), scroll_top: () => ({ to: "top" }),
  scroll_bottom: () => ({ to: "bottom" }), prev_prompt: () => ({ to: "promptBefore" }), next_prompt: () => ({ to: "promptAfter" }),
};
/** How far a pane's edge moves with one key. */
const GROW_BY = 2;
const LOCAL = new Set([...Object.keys(GO), ...Object.keys(SCROLL), "find", "copy_mode", "copy", "paste", "leave", "focus_sidebar", "new_thread", "close_tab", "take_size"]);

/** Whether an action is done by the page itself, also if it was chosen in the daemon's palette. */
export function isLocal(action) {
  return LOCAL.has(action);
}

export const actions = {
  /** Runs an action by its id, wherever it was chosen. */
  act(action, args) {
    if (GO[action]) return this.go(GO[action]);
    if (SCROLL[action]) return this.scroll(SCROLL[action]);
    const pane = this.paneCall(action);
    if (pane) return this.call(`${VIEW}pane`, pane).catch(this.complain);
    const frame = { command_palette: "commands", command_launcher: "launcher", agent_palette: "agents", custom_palette: "providers" }[action];
    if (frame) return this.palette.open(frame);
    switch (action) {
      case "find": return this.find.open();
      case "copy": return this.copySelection();
      case "copy_mode": return this.startCopyMode();
      case "paste": return this.pasteHere();
      case "focus_sidebar": return this.sidebar.focus();
      case "new_thread": return this.newThread();
      case "close_tab": return this.terminal === null ? undefined : this.closeTerminal(this.terminal);
      case "take_size": return this.setFit("own");
      case "leave": return this.toast("info", "Close this browser tab to leave. Everything runs on.");
      default: return this.call(`${VIEW}act`, args === undefined ? { action } : { action, args }).catch(this.complain);
    }
  },

  /** Does what a button of the frame stands for: from then on the keyboard is no longer the button's. */
  async press(run) {
    const from = document.activeElement;
    this.released = from;
    await run();
    if (document.activeElement === from || document.activeElement === document.body) this.focus(true);
  },

  scroll(make) {
    if (this.terminal === null) return;
    const rows = Math.max(1, (this.panes.get(this.terminal)?.fit ?? 24) - 2);
    this.notify(`${VIEW}scroll`, { t: this.terminal, ...make(rows) });
  },

  paneCall(action) {
    const { panes } = this.scene;
    if (!panes) return null;
    const side = /^(focus|grow)_(left|right|up|down)$/.exec(action);
    if (side) return side[1] === "focus" ? { focus: side[2] } : { resize: side[2], by: GROW_BY };
    switch (action) {
      case "split_right": return { split: "right" };
      case "split_below": return { split: "below" };
      case "zoom_pane": return { zoom: !panes.zoomed };
      case "break_pane": return { break: panes.focused };
      case "focus_next_pane": return { focus: "next" };
      case "swap_pane": {
        const order = panes.areas.map((area) => area.t);
        const other = order[(order.indexOf(panes.focused) + order.length - 1) % order.length];
        return other === panes.focused ? null : { move: panes.focused, to: other, side: "left" };
      }
      default: return null;
    }
  },

  async newThread() {
    if (this.rights === "look") return this.toast("warn", "this device is read-only");
    const project = this.scene.sidebar?.projects.find((one) => one.active)?.id;
    (await import("./pages/thread_new.js")).newThread(this, project);
  },

  async startCopyMode() {
    if (this.terminal === null || this.word() !== "workspace") return this.message("warn", "there is no terminal to copy from");
    const { CopyMode } = await import("./copy_mode.js");
    this.copyMode ??= new CopyMode(this);
    this.copyMode.start(this.terminal);
  },

  /** Closes a terminal; one in which an agent works or waits only after a question. */
  async closeTerminal(t) {
    const groups = this.scene.strip?.groups ?? [];
    const tab = groups.flatMap((group) => group.tabs).find((one) => one.id === t);
    const how = this.settings.confirmClose ?? "busy";
    const isBusy = tab && (tab.mood === "working" || tab.mood === "waiting");
    if (how === "always" || (how === "busy" && isBusy)) {
      const why = isBusy ? `An agent ${tab.mood === "waiting" ? "waits" : "works"} in it.` : "Its programs end.";
      const answer = await this.ask({ title: `Close ${tab?.title || "this terminal"}?`, lines: [why], isProse: true, yes: "Close", no: "Keep", danger: true });
      if (!answer) return;
    }
    await this.call("rookery/terminals/close", { terminal: t }).catch(this.complain);
  },

  setFit(fit) {
    this.fit = fit;
    keep("fit", fit);
    this.link.input("resize", { fit, ...this.workspace.room(), single: this.isPhone() });
    if (fit === "own" && this.rights === "full") this.call(`${VIEW}act`, { action: "take_size" }).catch(this.complain);
    this.workspace.arrange();
    this.status.paintOwner();
  },

  async openLink(uri) {
    if (/^file:/i.test(uri)) {
      if (this.terminal !== null) this.type.paste(this.terminal, decodeURIComponent(new URL(uri).pathname));
      return;
    }
    if (!isOpened(uri)) {
      const answer = await this.ask({ title: "Open this address?", lines: [exact(uri)], yes: "Open", no: "Cancel" });
      if (!answer || /^(javascript|data|blob|vbscript):/i.test(uri.trim())) return;
    }
    window.open(uri, "_blank", "noopener,noreferrer");
  },
};
