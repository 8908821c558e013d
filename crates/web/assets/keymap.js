// Keys of the browser as keys of the link, and what they mean: chords, and keys after the prefix.
// Pure but for the layout, which is learned from what is typed.

const AFTER = "prefix>";

/** Signs of a US keyboard with shift, and the keys that they lie on. */
const SHIFTED = {
  "~": "`", "!": "1", "@": "2", "#": "3", "$": "4", "%": "5", "^": "6", "&": "7", "*": "8", "(": "9", ")": "0",
  _: "-", "+": "=", "{": "[", "}": "]", "|": "\\", ":": ";", '"': "'", "<": ",", ">": ".", "?": "/",
};

const NAMED = {
  Enter: "enter", Tab: "tab", Escape: "escape", Backspace: "backspace", Delete: "delete", Insert: "insert",
  Home: "home", End: "end", PageUp: "page_up", PageDown: "page_down",
  ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right",
};

const SIGN_NAMES = { space: " ", plus: "+", minus: "-", equal: "=", comma: ",", period: ".", slash: "/", backslash: "\\", tilde: "~", underscore: "_", grave: "`", semicolon: ";", apostrophe: "'" };

const MODS = { shift: 1, alt: 2, option: 2, ctrl: 4, control: 4, super: 8, cmd: 8, command: 8, meta: 8, win: 8 };

/** There Option types, as AltGr does elsewhere. */
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform ?? "");

/** What keys type by themselves, by their places: as they did when they were pressed last. */
const layout = new Map();

/** A key without shift tells what it types by itself; until then that of a US keyboard is taken. */
function learn({ code, key }, mods) {
  if (code && (mods & 3) === 0) layout.set(code, key.toLowerCase());
}

/** The key at a place of a US keyboard. */
function usKey(code) {
  if (/^Key[A-Z]$/.test(code)) return code[3].toLowerCase();
  if (/^Digit[0-9]$/.test(code)) return code[5];
  return { Minus: "-", Equal: "=", BracketLeft: "[", BracketRight: "]", Backslash: "\\", Semicolon: ";", Quote: "'", Backquote: "`", Comma: ",", Period: ".", Slash: "/", Space: " " }[code] ?? null;
}

/** A keyboard event as a press of the link: `{k, mods, text?, shifted?, base?, kind?}`; null for what is no key. */
export function pressOf(event) {
  const { key } = event;
  if (!key || key === "Dead" || key === "Unidentified" || key === "Process" || event.isComposing) return null;
  let mods = (event.shiftKey ? 1 : 0) | (event.altKey ? 2 : 0) | (event.ctrlKey ? 4 : 0) | (event.metaKey ? 8 : 0);
  const kind = event.type === "keyup" ? "release" : event.repeat ? "repeat" : "press";
  if (NAMED[key]) return { k: NAMED[key], mods, kind };
  if (/^F([1-9]|1[0-9]|2[0-4])$/.test(key)) return { k: key.toLowerCase(), mods, kind };
  if ([...key].length !== 1) return null;
  // What a layout types with AltGr is text, and its modifiers are none.
  const types = (mods & 6) === 6 || (IS_MAC && (mods & 6) === 2);
  const isAltGraph = event.getModifierState?.("AltGraph") || (types && !isPlain(key, event.code));
  if (isAltGraph) return { k: key, mods: mods & 8, text: key, kind, typed: true };
  learn(event, mods);
  const base = usKey(event.code);
  const unshifted = plainOf(key, event.code, mods);
  const press = { k: unshifted, mods, kind };
  if ((mods & 14) === 0) press.text = key;
  if (mods & 1 && unshifted !== key) press.shifted = key;
  if (base && base !== unshifted) press.base = base;
  return press;
}

/** Whether a sign is what its key types by itself or with shift. */
function isPlain(key, code) {
  const base = layout.get(code) ?? usKey(code);
  if (base === null) return true;
  return key.toLowerCase() === base || SHIFTED[key] === base || /^[a-z0-9]$/i.test(key);
}

function plainOf(key, code, mods) {
  if (!(mods & 1)) return key.toLowerCase() === key ? key : key.toLowerCase();
  const told = layout.get(code);
  if (told && [...told].length === 1) return told;
  if (key.toLowerCase() !== key) return key.toLowerCase();
  return SHIFTED[key] && usKey(code) === SHIFTED[key] ? SHIFTED[key] : key;
}

/** A trigger in one form: `mods:key`, a shifted sign by its key. */
function canonical(mods, key) {
  let held = mods & 15;
  let plain = [...key].length === 1 ? key.toLowerCase() : key;
  if (SHIFTED[plain]) {
    plain = SHIFTED[plain];
    held |= 1;
  }
  return `${held}:${plain}`;
}

/** Reads `ctrl+alt+p` or `shift+page_up`. */
function parse(trigger) {
  const parts = trigger === "+" ? ["+"] : trigger.endsWith("++") ? [...trigger.slice(0, -2).split("+"), "+"] : trigger.split("+");
  const name = parts.pop();
  const mods = parts.reduce((all, part) => all | (MODS[part.toLowerCase()] ?? 0), 0);
  return canonical(mods, SIGN_NAMES[name] ?? name);
}

/** Every binding in force. */
export class Keymap {
  constructor(keys = [], prefix = null) {
    this.direct = new Map();
    this.after = new Map();
    this.listed = [];
    this.prefix = prefix;
    this.prefixKey = prefix ? parse(prefix) : null;
    for (const [trigger, action, title] of keys) {
      const isAfter = trigger.startsWith(AFTER);
      const chord = isAfter ? trigger.slice(AFTER.length) : trigger;
      const table = isAfter ? this.after : this.direct;
      table.set(parse(chord), action);
      this.listed.push({ keys: isAfter ? `prefix ${spoken(chord)}` : chord, chord: spoken(chord), isAfter, action, title });
    }
  }

  isPrefix(press) {
    return this.prefixKey !== null && !press.typed && keyOf(press) === this.prefixKey;
  }

  /** The action of a chord; null if it is free. */
  action(press) {
    return press.typed ? null : (this.direct.get(keyOf(press)) ?? null);
  }

  /** The action after the prefix. The case of a letter counts; a sign is a sign on every layout. */
  afterPrefix(press) {
    const sign = press.typed ? press.k : press.shifted;
    const bySign = sign && sign.toLowerCase() === sign.toUpperCase() ? this.after.get(canonical(press.mods & ~1, sign)) : null;
    return this.after.get(keyOf(press)) ?? bySign ?? null;
  }

  /** Keys of an action as people write them. */
  keysOf(action) {
    return this.listed.filter((row) => row.action === action).map((row) => row.keys);
  }
}

function keyOf(press) {
  return canonical(press.mods, press.k);
}

/** `shift+v` as `V`, `shift+/` as `?`. */
function spoken(chord) {
  if (!chord.startsWith("shift+")) return chord;
  const key = chord.slice(6);
  if (/^[a-z]$/.test(key)) return key.toUpperCase();
  const sign = Object.keys(SHIFTED).find((shifted) => SHIFTED[shifted] === key);
  return sign ?? chord;
}
