// What is kept: for this tab of the browser, on this device, and by the daemon for all pages.

const PREFS = "rookery/view/prefs";

/** Reads what `store` has under a name. */
function read(store, name, fallback) {
  try {
    return JSON.parse(store().getItem(`rookery.${name}`)) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Keeps a value; null forgets it. */
function write(store, name, value) {
  try {
    if (value === null) store().removeItem(`rookery.${name}`);
    else store().setItem(`rookery.${name}`, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing begins anew each time.
  }
}

const tab = () => sessionStorage;
const device = () => localStorage;

/** What this tab keeps over a reload. */
export const kept = (name, fallback) => read(tab, name, fallback);
export const keep = (name, value) => write(tab, name, value);

/** Begins the names of drafts. */
const DRAFT = "draft.";
/** Drafts that are kept; the oldest goes. */
const MOST_DRAFTS = 100;

/** Text of composers, comments and fields. It is on this device until it is sent, also when the browser is closed. */
export const drafts = {
  get: (name) => read(device, DRAFT + name, {}).text ?? "",
  set: (name, words) => {
    write(device, DRAFT + name, words === "" ? null : { text: words, at: Date.now() });
    trim();
  },
};

function trim() {
  try {
    const names = Object.keys(device()).filter((name) => name.startsWith(`rookery.${DRAFT}`));
    if (names.length <= MOST_DRAFTS) return;
    const ages = names.map((name) => [JSON.parse(device().getItem(name))?.at ?? 0, name]).sort(([one], [other]) => one - other);
    for (const [, name] of ages.slice(0, names.length - MOST_DRAFTS)) device().removeItem(name);
  } catch {
    // What cannot be read is not kept here.
  }
}

/** Forgets everything, because the device is given back. */
export function forget() {
  for (const store of [tab, device]) {
    try {
      for (const name of Object.keys(store())) if (name.startsWith("rookery.")) store().removeItem(name);
    } catch {
      // Nothing was kept.
    }
  }
}

/** Preferences: the daemon keeps them for this kind of face; what it refuses is kept on this device. */
export class Prefs {
  constructor(app) {
    this.app = app;
    this.shared = {};
    this.local = {
      get: (name, fallback = null) => read(device, name, fallback),
      set: (name, value) => write(device, name, value),
    };
  }

  get(name, fallback = null) {
    return this.shared[name] ?? this.local.get(name, fallback);
  }

  set(name, value) {
    this.shared[name] = value;
    this.local.set(name, value);
    this.app.call(PREFS, { set: { [name]: value } }).catch(() => {});
  }

  async load() {
    const found = await this.app.call(PREFS, { get: true }).catch(() => null);
    Object.assign(this.shared, found?.prefs ?? {});
    this.app.emit("prefs", this.shared);
  }
}
