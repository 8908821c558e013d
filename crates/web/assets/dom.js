// Elements without HTML from strings: what every module builds its part of the page with.

/** Builds an element. Strings among the children become text; null and false are left out. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (name === "class") element.className = value;
    else if (name === "data") setAll(value, (key, v) => (element.dataset[key] = v));
    else if (name === "aria") setAll(value, (key, v) => element.setAttribute(`aria-${key}`, v));
    else if (name === "on") setAll(value, (key, v) => element.addEventListener(key, v));
    else if (name === "style") setAll(value, (key, v) => element.style.setProperty(key, v));
    else if (name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  add(element, children);
  return element;
}

function setAll(values, set) {
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== null) set(key, value);
  }
}

/** Puts children into an element: nodes, strings, numbers, lists of them. */
export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Takes everything out of an element. */
export function clear(element) {
  element.replaceChildren();
  return element;
}

/** A button that says what it does. */
export function button(label, onclick, props = {}) {
  const all = { class: "button", type: "button", ...props };
  return h("button", { ...all, on: { click: onclick, ...(props.on ?? {}) } }, label);
}

/** Sets a text only where it differs, so that readers and the layout are left alone. */
export function text(element, value) {
  if (element.textContent !== value) element.textContent = value;
}

/** Sets or takes off an attribute, only where that changes something. */
export function attr(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
  } else if (element.getAttribute(name) !== String(value)) {
    element.setAttribute(name, String(value));
  }
}

const KEY = Symbol("key");

/** Keeps one element for each item of a list, in its order, and the keyboard where it is. */
export function keyed(parent, items, keyOf, make, update) {
  const old = new Map();
  for (const child of parent.children) old.set(child[KEY], child);
  let at = parent.firstElementChild;
  for (const [index, item] of items.entries()) {
    const key = keyOf(item);
    let element = old.get(key);
    if (element) {
      old.delete(key);
    } else {
      element = make(item, index);
      element[KEY] = key;
    }
    update?.(element, item, index);
    if (element === at) at = at.nextElementSibling;
    else parent.insertBefore(element, at);
  }
  for (const element of old.values()) element.remove();
}

/** How long ago something was, as people say it: `<1m`, `4m`, `2h`, `3d`. */
export function age(ms, now = Date.now()) {
  if (!ms) return "";
  const minutes = Math.floor(Math.max(0, now - ms) / 60000);
  if (minutes < 1) return "<1m";
  if (minutes < 60) return `${minutes}m`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)}h`;
  return `${Math.floor(minutes / 1440)}d`;
}

const SIGNS = { waiting: "◆", failed: "✗", working: "●", done: "✓", quiet: "" };

/** A mood as a sign and a color; readers hear the word. */
export function mood(word) {
  const element = h("span", { class: "mood", data: { mood: word }, role: "img" });
  return setMood(element, word);
}

/** Gives an element made by `mood` another mood. */
export function setMood(element, word) {
  element.dataset.mood = word;
  text(element, SIGNS[word] ?? "");
  attr(element, "aria-label", word === "quiet" ? null : word);
  attr(element, "aria-hidden", word === "quiet" ? "true" : null);
  return element;
}
