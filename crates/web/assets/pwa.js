// The page as an app: service worker, badge, notifications that lead to their card. All of it needs https
// or localhost; elsewhere the settings say so.

import { plain } from "./pages/shown.js";

const WORKER = "/sw.js";

/** Called once by the frame. */
export function start(app) {
  const pwa = new Pwa(app);
  app.notifications = { state: () => pwa.state(), ask: () => pwa.ask() };
  pwa.begin();
}

class Pwa {
  #app;
  #worker = null;
  #badge = -1;
  #place = null;

  constructor(app) {
    this.#app = app;
  }

  begin() {
    this.#takePlace();
    this.#register();
    this.#app.on("notices", (notice) => void this.#notice(notice));
    this.#app.on("scene", (parts) => parts.status && this.#count(parts.status.waiting ?? 0));
    this.#app.on("open", () => this.#openPlace());
    window.addEventListener("hashchange", () => {
      this.#takePlace();
      this.#openPlace();
    });
    this.#openPlace();
    navigator.serviceWorker?.addEventListener("message", (event) => {
      if (event.data?.go) void this.#app.go(event.data.go);
    });
  }

  // The one address that is given out is that of the worker.
  #register() {
    if (!window.isSecureContext || !navigator.serviceWorker) return;
    const check = (address) => {
      if (address !== WORKER) throw new TypeError("no such worker");
      return address;
    };
    const policy = window.trustedTypes?.createPolicy("rookery", { createScriptURL: check }) ?? { createScriptURL: check };
    this.#worker = navigator.serviceWorker.register(policy.createScriptURL(WORKER)).then(
      () => navigator.serviceWorker.ready,
      () => null,
    );
  }

  /** `default`, `granted`, `denied`, `insecure` or `missing`. */
  state() {
    if (!window.isSecureContext) return "insecure";
    if (!("Notification" in window) || !this.#worker) return "missing";
    return Notification.permission;
  }

  async ask() {
    await Notification.requestPermission();
    return this.state();
  }

  #count(waiting) {
    if (waiting === this.#badge) return;
    this.#badge = waiting;
    const set = waiting > 0 ? navigator.setAppBadge?.(waiting) : navigator.clearAppBadge?.();
    set?.catch(() => {});
    if (waiting === 0) void this.#close("rookery-");
  }

  // A page that was loaded anew is not told what became of notifications that it showed before.
  async #close(prefix) {
    const worker = this.state() === "granted" ? await this.#worker : null;
    const shown = (await worker?.getNotifications()) ?? [];
    for (const one of shown) if (one.tag.startsWith(prefix)) one.close();
  }

  // Only while the page is hidden; what is settled anywhere is taken back.
  async #notice(notice) {
    if (this.state() !== "granted") return;
    const worker = await this.#worker;
    if (!worker) return;
    if (notice.gone !== undefined) {
      const shown = await worker.getNotifications({ tag: `rookery-${notice.gone}` });
      for (const one of shown) one.close();
      return;
    }
    if (!document.hidden) return;
    await worker.showNotification(plain(notice.title), {
      body: plain(notice.body),
      tag: `rookery-${notice.id}`,
      timestamp: notice.at || Date.now(),
      requireInteraction: notice.urgency === "high",
      icon: new URL("icons/192.png", import.meta.url).href,
      data: { place: notice.page ?? { page: "inbox" } },
    });
  }

  // A notification that had to open a new page says in the fragment where to go; it is never sent.
  #takePlace() {
    const found = /^#go=(.+)$/.exec(location.hash);
    if (!found) return;
    history.replaceState(history.state, "", location.pathname);
    try {
      this.#place = JSON.parse(decodeURIComponent(found[1]));
    } catch {
      this.#place = null;
    }
  }

  #openPlace() {
    if (!this.#place || this.#app.state !== "open") return;
    const place = this.#place;
    this.#place = null;
    void this.#app.go(place);
  }
}
