// Fingers on a terminal: two pinch its font, on this device only; one goes sideways to the next pane.
// Scrolling and selecting are the browser's own.

/** Smallest and largest font of a pinch. */
const SIZES = [6, 24];
/** How far and how straight a finger goes for it to be a swipe. */
const SWIPE_PX = 70;
const STRAIGHT = 2;
const SWIPE_MS = 600;
/** The name under which the size is kept. */
const KEPT = "phone-font";

/** Watches the page of terminals. `step(by)` goes to another pane. */
export function watch(app, element, step) {
  const touch = new Touch(app, step);
  const on = (name, handler) => element.addEventListener(name, handler, { passive: true });
  on("touchstart", (event) => touch.start(event));
  on("touchmove", (event) => touch.move(event));
  on("touchend", (event) => touch.end(event));
  on("touchcancel", () => touch.cancel());
  app.on("scene", (parts) => {
    if (parts.panes !== undefined) touch.apply();
  });
  return touch;
}

class Touch {
  #app;
  #step;
  #pinch = null;
  #swipe = null;

  constructor(app, step) {
    this.#app = app;
    this.#step = step;
  }

  /** Gives every pane the size that this device has; none if it was never pinched. */
  apply() {
    const size = this.#app.prefs.local.get(KEPT, null);
    if (!this.#app.isPhone() || !size) return;
    for (const pane of this.#app.panes.values()) if (pane.ownSize !== size) pane.setFont(size);
  }

  /** The usual size again: all columns fit. */
  reset() {
    this.#app.prefs.local.set(KEPT, null);
    for (const pane of this.#app.panes.values()) pane.setFont(null);
  }

  #pane(target) {
    const element = target instanceof Element ? target.closest(".pane") : null;
    return element ? (this.#app.panes.get(Number(element.dataset.terminal)) ?? null) : null;
  }

  start(event) {
    const pane = this.#pane(event.target);
    if (!pane) return this.cancel();
    if (event.touches.length === 2) {
      this.#swipe = null;
      this.#pinch = { pane, distance: distance(event.touches), size: pane.fontSize };
    } else if (event.touches.length === 1) {
      const [{ clientX, clientY }] = event.touches;
      this.#swipe = { x: clientX, y: clientY, at: event.timeStamp, scroller: pane.scroller, left: pane.scroller.scrollLeft };
    } else this.cancel();
  }

  move(event) {
    const pinch = this.#pinch;
    if (!pinch || event.touches.length !== 2) return;
    const wanted = (pinch.size * distance(event.touches)) / Math.max(1, pinch.distance);
    const size = Math.round(Math.min(SIZES[1], Math.max(SIZES[0], wanted)) * 2) / 2;
    if (size === pinch.now) return;
    pinch.now = size;
    pinch.pane.setFont(size);
  }

  end(event) {
    if (this.#pinch?.now) {
      this.#app.prefs.local.set(KEPT, this.#pinch.now);
      this.#app.announce(`font ${this.#pinch.now}`);
      this.apply();
    }
    this.#pinch = null;
    const swipe = this.#swipe;
    this.#swipe = null;
    if (!swipe || event.touches.length > 0 || event.changedTouches.length !== 1) return;
    const [{ clientX, clientY }] = event.changedTouches;
    const [dx, dy] = [clientX - swipe.x, clientY - swipe.y];
    const isSideways = Math.abs(dx) > SWIPE_PX && Math.abs(dx) > STRAIGHT * Math.abs(dy) && event.timeStamp - swipe.at < SWIPE_MS;
    // A terminal that is wider than the screen was moved by it; selected text belongs to its handles.
    const isOther = swipe.scroller.scrollLeft !== swipe.left || this.#app.selection?.range;
    if (isSideways && !isOther) this.#step(dx < 0 ? 1 : -1);
  }

  cancel() {
    this.#pinch = null;
    this.#swipe = null;
  }
}

function distance([a, b]) {
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}
