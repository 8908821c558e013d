// The guard of decisions: what was typed or tapped before a person could have read what it decides,
// does not decide. Used by cards, rows of the phone's inbox and reviews, and by nothing that only looks.

/** Said within the guard. */
export const READ_FIRST = "read it first";

/** A guard over one thing that is decided. It is shut until the thing was drawn and some time has gone by. */
export class Guard {
  #openAt = Infinity;
  #pressedAt = 0;
  #turn = 0;

  /** `milliseconds` gives how long a thing takes no answer after it was drawn. */
  constructor(milliseconds) {
    this.milliseconds = milliseconds;
  }

  /** The thing was drawn or has changed: begins anew once it is on the screen. */
  begin() {
    const turn = ++this.#turn;
    this.#openAt = Infinity;
    const drawn = () => {
      if (turn === this.#turn) this.#openAt = performance.now() + this.milliseconds();
    };
    // The second frame comes after the first was painted.
    requestAnimationFrame(() => requestAnimationFrame(drawn));
  }

  /** Nothing passes until `begin`. */
  shut() {
    this.#turn += 1;
    this.#openAt = Infinity;
  }

  /** Where presses of a pointer are noticed, so that a click counts from where it began. */
  watch(element) {
    element.addEventListener(
      "pointerdown",
      (event) => {
        this.#pressedAt = event.timeStamp;
      },
      true,
    );
    // A held Enter clicks again and again.
    element.addEventListener("keydown", (event) => {
      const isButton = event.target instanceof HTMLButtonElement;
      if (isButton && event.repeat && (event.key === "Enter" || event.key === " ")) event.preventDefault();
    });
  }

  /** Whether an event may decide: a person's own, not repeated, after the guard. */
  passes(event) {
    if (!event.isTrusted || event.repeat) return false;
    const isPointer = event.type === "click" && event.detail > 0;
    const began = isPointer ? Math.min(this.#pressedAt, event.timeStamp) : event.timeStamp;
    return began >= this.#openAt;
  }
}

/** What decides on a page that was hidden for longer is shown anew. */
const HIDDEN_MS = 60_000;

/** Calls `run` whenever the page is seen again, and says whether it was hidden for long. The time of day counts as
    well: while a device sleeps the other clock may stand still. */
export function onReturn(run) {
  const clocks = () => [performance.now(), Date.now()];
  let since = null;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      since = clocks();
      return;
    }
    const isLong = since !== null && clocks().some((now, at) => now - since[at] > HIDDEN_MS);
    since = null;
    run(isLong);
  });
}

/** How long the guard is, as the user set it. */
export const guardOf = (app) => () => app.settings?.guard ?? 400;
