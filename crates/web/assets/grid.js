// Rows of a terminal as elements: sizes of cells, classes of styles, spans of runs, and places in text.
// One element per row, one span per run of a style; text enters by text nodes only.

import { clusters } from "./mirror.js";

const ASCII = /^[\x20-\x7e]*$/;
/** Accents and the like take no cell of their own; a text has signs of one cell, each with those that belong to it. */
const MARK = /\p{Mn}/u;
const ONE = /^\P{Mn}\p{Mn}*$/u;
/** Advances of signs that were measured; a page sees a few hundred. */
const MOST_MEASURED = 20000;

/** The size of a cell in whole device pixels, and which signs of the font do not fit it. */
export class Metrics {
  constructor(family, size) {
    this.family = family;
    this.size = size;
    const scale = window.devicePixelRatio || 1;
    const whole = (px) => Math.max(1, Math.round(px * scale)) / scale;
    const probe = document.createElement("span");
    probe.className = "probe";
    probe.style.setProperty("font", `${size}px ${family}`);
    probe.textContent = "m".repeat(100);
    document.body.append(probe);
    const advance = probe.getBoundingClientRect().width / 100;
    probe.remove();
    this.cellW = whole(advance);
    this.spacing = this.cellW - advance;
    this.context = document.createElement("canvas").getContext("2d");
    this.context.font = `${size}px ${family}`;
    const sample = this.context.measureText("Mg|█");
    const height = (sample.fontBoundingBoxAscent ?? size * 0.93) + (sample.fontBoundingBoxDescent ?? size * 0.24);
    this.cellH = whole(Math.max(height, size * 1.2));
    this.own = this.context.measureText("m").width;
    this.fits = new Map();
  }

  /** Whether a sign has the width of a cell, so that it can stand in a text among others. */
  isPlain(sign) {
    let fits = this.fits.get(sign);
    if (fits === undefined) {
      if (this.fits.size > MOST_MEASURED) this.fits.clear();
      fits = Math.abs(this.context.measureText(sign).width - this.own) < 0.02;
      this.fits.set(sign, fits);
    }
    return fits;
  }
}

const COLOR = /^#[0-9a-f]{6}$/;
const LINES = ["", "underline", "underline double", "underline wavy", "underline dotted", "underline dashed"];
const CUBE = [0, 95, 135, 175, 215, 255];

/** The classes of one terminal's styles, as rules of a sheet that the document adopts. */
export class Styles {
  constructor(prefix) {
    this.prefix = prefix;
    this.rules = new Map();
    this.sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.sheet];
  }

  drop() {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.sheet);
  }

  name(id) {
    return `${this.prefix}${id}`;
  }

  /** Takes over styles; one that is known already is replaced. */
  learn(styles, theme, ground) {
    let isAgain = false;
    for (const style of styles) {
      const id = Number(style[0]);
      isAgain ||= this.rules.has(id);
      const rule = `.${this.name(id)}{${declarations(style, theme, ground)}}`;
      this.rules.set(id, rule);
      if (!isAgain) this.sheet.insertRule(rule, this.sheet.cssRules.length);
    }
    if (isAgain) this.sheet.replaceSync([...this.rules.values()].join("\n"));
  }

  forget() {
    this.rules.clear();
    this.sheet.replaceSync("");
  }
}

function declarations([, raw, ink, ground], theme, own) {
  const all = [];
  const bits = raw?.a ?? 0;
  if (COLOR.test(ink)) all.push(`color:${bits & 16 ? "transparent" : ink}`);
  if (COLOR.test(ground) && ground !== own) all.push(`background-color:${ground}`);
  if (bits & 1) all.push("font-weight:700");
  if (bits & 4) all.push("font-style:italic");
  const lines = [];
  if (raw?.u) lines.push(LINES[raw.u] ?? "underline");
  if (bits & 32) lines.push("line-through");
  if (bits & 64) lines.push("overline");
  if (lines.length > 0) all.push(`text-decoration:${lines.join(" ")}`);
  const line = tint(raw?.uc, theme);
  if (line) all.push(`text-decoration-color:${line}`);
  return all.join(";");
}

/** A color as a program asked for it. */
function tint(asked, theme) {
  if (typeof asked === "string") return COLOR.test(asked) ? asked : null;
  if (typeof asked !== "number") return null;
  if (asked < 16) return COLOR.test(theme?.named?.[asked]) ? theme.named[asked] : null;
  if (asked >= 232) return `rgb(${Array(3).fill(8 + (asked - 232) * 10).join(",")})`;
  const at = asked - 16;
  return `rgb(${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((part) => CUBE[part]).join(",")})`;
}

/** Fills the element of a row. */
export function paintRow(element, row, styles, metrics) {
  const [, text, runs, flags] = row;
  element.classList.toggle("runs-on", (flags & 1) !== 0);
  const nodes = [];
  if (typeof text === "string" && ASCII.test(text)) paintAscii(nodes, text, runs, styles);
  else paintPieces(nodes, text, runs, styles, metrics);
  element.replaceChildren(...nodes);
}

function paintAscii(nodes, text, runs, styles) {
  let at = 0;
  for (let index = 0; index < runs.length; index += 2) {
    const piece = text.slice(at, at + runs[index]).padEnd(runs[index + 1] === 0 ? 0 : runs[index]);
    at += runs[index];
    if (piece !== "") nodes.push(span(piece, runs[index + 1], styles));
  }
  if (at < text.length) nodes.push(document.createTextNode(text.slice(at)));
}

function span(piece, style, styles) {
  const node = document.createTextNode(piece);
  if (style === 0 && !styles.rules.has(0)) return node;
  const element = document.createElement("span");
  element.className = styles.name(style);
  element.append(node);
  return element;
}

function paintPieces(nodes, text, runs, styles, metrics) {
  let [index, left] = [0, runs[0] ?? Infinity];
  let style = runs.length > 0 ? runs[1] : 0;
  let [parts, buffer] = [[], ""];
  const flushText = () => {
    if (buffer !== "") parts.push(document.createTextNode(buffer));
    buffer = "";
  };
  const flushRun = () => {
    flushText();
    if (parts.length === 0) return;
    if (style === 0 && !styles.rules.has(0)) nodes.push(...parts);
    else {
      const element = document.createElement("span");
      element.className = styles.name(style);
      element.append(...parts);
      nodes.push(element);
    }
    parts = [];
  };
  const nextRun = () => {
    flushRun();
    index += 2;
    left = runs[index] ?? Infinity;
    style = runs[index + 1] ?? 0;
  };
  for (const [cluster, cells] of clusters(text)) {
    while (left <= 0) nextRun();
    if (cells === 1 && ONE.test(cluster) && (ASCII.test(cluster) || metrics.isPlain(cluster))) buffer += cluster;
    else {
      flushText();
      parts.push(boxed(cluster, cells));
    }
    left -= cells;
  }
  while (index < runs.length) {
    if (style !== 0 && left > 0 && left !== Infinity) buffer += " ".repeat(left);
    nextRun();
  }
  flushRun();
}

/** A cluster in a box of its cells, so that no font can shift what follows. */
function boxed(cluster, cells) {
  const element = document.createElement("span");
  element.className = `c c${Math.min(cells, 8)}`;
  element.dataset.cells = cells;
  element.append(document.createTextNode(cluster));
  return element;
}

/** Cells of a text. */
function cellsIn(text) {
  return [...text].filter((sign) => !MARK.test(sign)).length;
}

/** Where in a text a cell begins. */
function offsetAt(text, cells) {
  let [at, left] = [0, cells];
  for (const sign of text) {
    if (!MARK.test(sign) && left-- === 0) break;
    at += sign.length;
  }
  return at;
}

/** Cells of a node of a row. */
function cellsOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return cellsIn(node.data);
  if (node.dataset?.cells) return Number(node.dataset.cells);
  let sum = 0;
  for (const child of node.childNodes) sum += cellsOf(child);
  return sum;
}

/** The column at a place of the document within a row's element. */
export function columnAt(row, node, offset) {
  if (node === row) {
    let sum = 0;
    for (const child of [...row.childNodes].slice(0, offset)) sum += cellsOf(child);
    return sum;
  }
  const box = (node.nodeType === Node.TEXT_NODE ? node.parentNode : node).closest?.("[data-cells]");
  let sum = 0;
  if (box && row.contains(box)) {
    sum = offset > 0 ? Number(box.dataset.cells) : 0;
    node = box;
  } else if (node.nodeType === Node.TEXT_NODE) {
    sum = cellsIn(node.data.slice(0, offset));
  } else {
    for (const child of [...node.childNodes].slice(0, offset)) sum += cellsOf(child);
  }
  for (let up = node; up !== row; up = up.parentNode) {
    for (let before = up.previousSibling; before; before = before.previousSibling) sum += cellsOf(before);
  }
  return sum;
}

/** The place of the document at a column of a row's element. */
export function placeAt(row, column) {
  let left = column;
  const walk = (parent) => {
    for (const child of parent.childNodes) {
      const cells = cellsOf(child);
      if (left > cells || (left === cells && child.nextSibling)) {
        left -= cells;
        continue;
      }
      if (child.nodeType === Node.TEXT_NODE) return [child, offsetAt(child.data, left)];
      if (child.dataset?.cells) return [parent, [...parent.childNodes].indexOf(child) + (left > 0 ? 1 : 0)];
      return walk(child);
    }
    return [parent, parent.childNodes.length];
  };
  return walk(row);
}

/** The text of a row between two columns. */
export function sliceRow(text, from, to) {
  let [out, at] = ["", 0];
  for (const [cluster, cells] of clusters(text)) {
    if (at >= to) break;
    if (at + cells > from) out += cluster;
    at += cells;
  }
  return out;
}

/** The cluster at a column, and where it begins: for the cursor. */
export function clusterAt(text, column) {
  let at = 0;
  for (const [cluster, cells] of clusters(text)) {
    if (column < at + cells) return [cluster, cells, at];
    at += cells;
  }
  return [" ", 1, column];
}
