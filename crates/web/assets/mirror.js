// What a viewer was sent, put together again: the same as `crates/face/src/mirror`, rule by rule.
// It never guesses: what it cannot be sure of it asks for again. It knows no socket and no element.

const MOST_ROWS = 4096;
const PARTS = ["page", "title", "status", "theme", "sidebar", "strip", "panes", "palette", "inbox", "dialog", "toasts", "chosen"];

/** One terminal as a viewer sees it. Rows are `[number, text, runs, flags]`. */
export class MirrorTerm {
  constructor(entry) {
    this.epoch = entry.epoch;
    this.seq = 0;
    this.size = entry.size;
    this.view = entry.view;
    this.cursor = entry.cursor;
    this.modes = entry.modes;
    this.ended = null;
    this.owner = null;
    this.found = null;
    this.rows = new Map();
    this.styles = new Map();
    this.links = new Map();
    /** Styles that were learned since they were last taken, for painters. */
    this.fresh = [];
  }

  /** A terminal that comes in full; null if something is missing from it. */
  static begin(entry) {
    const whole = has(entry.size) && has(entry.epoch) && has(entry.view) && has(entry.cursor) && has(entry.modes);
    if (!whole || entry.size[0] < 1 || entry.size[0] > MOST_ROWS) return null;
    const term = new MirrorTerm(entry);
    return term.apply({ ...entry, epoch: undefined, size: undefined }) ? term : null;
  }

  /** Takes an entry over; false if it does not fit to what is known. */
  apply(entry) {
    if (has(entry.epoch) && entry.epoch !== this.epoch) return false;
    if (has(entry.size) && (entry.size[0] !== this.size[0] || entry.size[1] !== this.size[1])) return false;
    this.seq = entry.seq ?? 0;
    this.view = entry.view ?? this.view;
    this.cursor = entry.cursor ?? this.cursor;
    this.modes = entry.modes ?? this.modes;
    this.ended = entry.ended ?? this.ended;
    if (entry.owner !== undefined) this.owner = entry.owner;
    this.found = entry.found ?? this.found;
    this.learn(entry.styles, entry.links);
    const [from, to] = this.shown();
    for (const number of this.rows.keys()) {
      if (number < from || number >= to) this.rows.delete(number);
    }
    for (const [number, text, runs, flags] of entry.rows ?? []) {
      const row = [number, text, runs ?? [], flags ?? 0];
      if (!(number >= from && number < to) || !this.knows(row)) return false;
      this.rows.set(number, row);
    }
    return !has(entry.sum) || this.sum() === entry.sum;
  }

  learn(styles, links) {
    for (const style of styles ?? []) {
      this.styles.set(style[0], style);
      this.fresh.push(style);
    }
    for (const [id, uri] of links ?? []) this.links.set(id, uri);
  }

  /** Whether everything is known that a row refers to. */
  knows(row) {
    const runs = row[2];
    if (runs.length % 2 !== 0) return false;
    for (let at = 1; at < runs.length; at += 2) {
      if (runs[at] === 0) continue;
      const style = this.styles.get(runs[at]);
      if (!style) return false;
      const link = style[1]?.l;
      if (has(link) && !this.links.has(link)) return false;
    }
    return true;
  }

  /** Numbers of the rows in view: the first, and the one after the last. */
  shown() {
    return [this.view[0], this.view[0] + this.size[0]];
  }

  /** The CRC-32 of the rows in view. */
  sum() {
    const rows = [...this.rows.values()].sort((a, b) => a[0] - b[0]);
    return crc32(rows.map((row) => JSON.stringify([row[1], row[2], row[3]])).join("\n"));
  }

  toJSON() {
    const inOrder = (map) => [...map.values()].sort((a, b) => a[0] - b[0]);
    const links = [...this.links.entries()].sort((a, b) => a[0] - b[0]);
    const { epoch, seq, size, view, cursor, modes, ended, owner, found } = this;
    return { epoch, seq, size, view, cursor, modes, ended, owner, found, rows: inOrder(this.rows), styles: inOrder(this.styles), links };
  }
}

/** The daemon's state as one viewer sees it. */
export class Mirror {
  constructor(opened) {
    this.n = 0;
    this.input = 0;
    this.scene = { ...(opened?.scene ?? {}) };
    this.terms = new Map();
    this.lostTerms = new Set();
    this.lostScene = false;
    /** Parts that came since the scene was lost. */
    this.found = new Set();
  }

  /** Takes a frame over, and says what it changed and what must be asked for again. */
  apply(frame) {
    const changed = { n: null, scene: null, terms: [], input: null, resync: { terms: [], scene: false } };
    const n = frame.n ?? 0;
    if (n <= this.n) return changed;
    const wasLost = this.lostScene;
    if (n !== this.n + 1) this.loseAll(changed.resync);
    this.n = changed.n = n;
    if (has(frame.input) && frame.input > this.input) this.input = changed.input = frame.input;
    if (frame.scene) {
      changed.scene = frame.scene;
      this.takeScene(frame.scene);
    }
    for (const entry of frame.terms ?? []) this.takeEntry(entry, changed);
    if (wasLost && !this.lostScene) {
      // A terminal may have come into view with a frame that is missing.
      for (const { t } of this.scene.panes?.areas ?? []) {
        if (!this.terms.has(t)) {
          this.lostTerms.add(t);
          changed.resync.terms.push(t);
        }
      }
    }
    // One that came in full is not missing after all.
    changed.resync.terms = changed.resync.terms.filter((t) => this.lostTerms.has(t));
    return changed;
  }

  takeScene(scene) {
    for (const part of PARTS) {
      if (scene[part] === undefined) continue;
      this.scene[part] = scene[part];
      this.found.add(part);
    }
    // A large one comes in several frames.
    if (PARTS.every((part) => this.found.has(part))) this.lostScene = false;
    if (scene.panes === undefined) return;
    // Those that come back come in full.
    const shown = new Set((scene.panes?.areas ?? []).map(({ t }) => t));
    this.retain((t) => shown.has(t));
  }

  takeEntry(entry, changed) {
    if (this.takeTerm(entry)) {
      changed.terms.push(entry.t);
      return;
    }
    this.lostTerms.add(entry.t);
    if (!changed.resync.terms.includes(entry.t)) changed.resync.terms.push(entry.t);
  }

  takeTerm(entry) {
    if (entry.full) {
      const term = MirrorTerm.begin(entry);
      if (!term) return false;
      this.terms.set(entry.t, term);
      this.lostTerms.delete(entry.t);
      return true;
    }
    if (this.lostTerms.has(entry.t)) return false;
    return this.terms.get(entry.t)?.apply(entry) ?? false;
  }

  /** Everything is in doubt. */
  loseAll(resync) {
    this.lostScene = true;
    this.found.clear();
    for (const t of this.terms.keys()) this.lostTerms.add(t);
    resync.scene = true;
    resync.terms = [...this.lostTerms].sort((a, b) => a - b);
  }

  /** Takes over the styles of rows outside of the view; false if they are of another epoch. */
  takeRows(t, found) {
    const term = this.terms.get(t);
    if (!term || term.epoch !== found.epoch) return false;
    term.learn(found.styles, found.links);
    return true;
  }

  /** Forgets terminals that are not shown any more. */
  retain(isShown) {
    for (const t of [...this.terms.keys()]) if (!isShown(t)) this.terms.delete(t);
    for (const t of [...this.lostTerms]) if (!isShown(t)) this.lostTerms.delete(t);
  }

  toJSON() {
    const terms = {};
    for (const [t, term] of [...this.terms].sort((a, b) => a[0] - b[0])) terms[t] = term.toJSON();
    const lostTerms = [...this.lostTerms].sort((a, b) => a - b);
    return { n: this.n, input: this.input, scene: this.scene, terms, lostTerms, lostScene: this.lostScene };
  }
}

function has(value) {
  return value !== undefined && value !== null;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The CRC-32 of a text in UTF-8. */
export function crc32(text) {
  let sum = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) sum = TABLE[(sum ^ byte) & 0xff] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/** The text of a row, whatever pieces it came in. */
export function plain(text) {
  return typeof text === "string" ? text : text.map((part) => (typeof part === "string" ? part : part[0])).join("");
}

/** Clusters of a row from the left, each with the cells that it takes. */
export function* clusters(text) {
  for (const part of typeof text === "string" ? [text] : text) {
    if (typeof part === "string") for (const sign of part) yield [sign, 1];
    else yield part;
  }
}
