// Reading a terminal's output aloud: new lines go to the polite region, a bounded number at a time, and
// only where the person turned it on.

import { plain as rowText } from "./mirror.js";
import { plain } from "./pages/shown.js";

/** Lines of one announcement, and how often there is one. */
const LINES = 20;
const EVERY_MS = 250;
/** The line of the cursor is read once it has not changed for this long. */
const STILL_MS = 700;
/** The program uses the whole screen: only the cursor's line means anything. */
const ALTERNATE = 8;

/** Called once by the frame. */
export function start(app) {
  const reader = new Reader(app);
  app.readOutput = (is) => reader.turn(is);
  reader.turn(app.prefs.local.get("read-output", false) === true);
  app.on("terms", (terms) => reader.heard(terms));
}

class Reader {
  #app;
  #isOn = false;
  #t = null;
  #epoch = null;
  #read = -1;
  #said = "";
  #lines = [];
  #skipped = 0;
  #timer = 0;
  #still = 0;

  constructor(app) {
    this.#app = app;
  }

  turn(is) {
    this.#isOn = is;
    this.#t = null;
    this.#lines = [];
    this.#skipped = 0;
    const term = is ? this.#app.term(this.#app.terminal) : null;
    if (term) this.#begin(this.#app.terminal, term);
  }

  heard(terms) {
    const t = this.#app.terminal;
    if (!this.#isOn || t === null || !terms.includes(t)) return;
    const term = this.#app.term(t);
    if (!term) return;
    if (t !== this.#t || term.epoch !== this.#epoch) return this.#begin(t, term);
    const isWhole = (term.modes & ALTERNATE) === 0;
    if (isWhole) this.#takeLines(term);
    this.#watchCursor(term);
  }

  // What is there already when it begins is on the screen, and not read.
  #begin(t, term) {
    this.#t = t;
    this.#epoch = term.epoch;
    this.#read = term.cursor[0] - 1;
    this.#said = "";
  }

  // Lines above the cursor are complete.
  #takeLines(term) {
    const [cursor] = term.cursor;
    if (cursor - 1 < this.#read) this.#read = cursor - 1;
    for (let number = this.#read + 1; number < cursor; number += 1) {
      const row = term.rows.get(number);
      const text = row ? plain(rowText(row[1])) : "";
      if (!row) this.#skipped += 1;
      else if (text && this.#lines.length < LINES) this.#lines.push(text);
      else if (text) this.#skipped += 1;
    }
    this.#read = Math.max(this.#read, cursor - 1);
    if (this.#lines.length || this.#skipped) this.#timer ||= setTimeout(() => this.#tell(), EVERY_MS);
  }

  #tell() {
    this.#timer = 0;
    const lines = this.#lines;
    if (this.#skipped) lines.push(`${this.#skipped} more line${this.#skipped === 1 ? "" : "s"}`);
    this.#lines = [];
    this.#skipped = 0;
    if (this.#isOn && lines.length) this.#app.announce(lines.join("\n"));
  }

  // A prompt has no end; it is read once nothing more comes.
  #watchCursor(term) {
    clearTimeout(this.#still);
    this.#still = setTimeout(() => {
      const row = term.rows.get(term.cursor[0]);
      const text = row ? plain(rowText(row[1])) : "";
      if (!this.#isOn || !text || text === this.#said) return;
      this.#said = text;
      if (!this.#timer) this.#app.announce(text);
    }, STILL_MS);
  }
}
