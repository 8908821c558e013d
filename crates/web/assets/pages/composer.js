// Where a message to an agent is written: grows with its text, keeps its draft, offers slash commands,
// takes images. It knows no thread; who uses it sends.

import { button, clear, h } from "../dom.js";
import { plain } from "./shown.js";

/** Images of one message, and bytes of all of them as they travel. */
const MOST_IMAGES = 6;
const MOST_BYTES = 6 << 20;
/** An image with more bytes, or a longer side, is made smaller. */
const LARGE_BYTES = 1 << 20;
const LONG_SIDE = 2000;
/** Most rows of commands that are shown. */
const MOST_COMMANDS = 8;

/** Whether a key is part of an input method's work. */
const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** `options`: `id`, `list` (id of the list of commands), `label`, `placeholder`, `draft` (key), `send({text, images}) → whether it went`, `escape(event)`, `tab(event) → taken`, `changed()`, `commands() → [{name, description}]`. */
export class Composer {
  #app;
  #options;
  #images = [];
  #commands = [];
  #at = 0;

  constructor(app, options) {
    this.#app = app;
    this.#options = options;
    this.field = h("textarea", {
      id: options.id,
      class: "field composer-field",
      rows: 1,
      placeholder: options.placeholder ?? "",
      aria: { label: options.label, controls: options.list, autocomplete: options.list && "list" },
      on: { input: () => this.#changed(), keydown: (event) => this.#key(event), paste: (event) => this.#paste(event) },
    });
    this.slash = h("ul", { id: options.list, class: "slash", role: "listbox", aria: { label: "Commands" } });
    this.slash.hidden = true;
    this.chips = h("div", { class: "attachments" });
    this.files = h("input", {
      type: "file",
      accept: "image/*",
      multiple: true,
      class: "unseen",
      tabIndex: -1,
      aria: { label: "Images" },
      on: {
        change: () => {
          void this.#take(this.files.files);
          this.files.value = "";
        },
      },
    });
    this.attach = button("+", () => this.files.click(), {
      class: "button attach",
      title: "Attach an image",
      aria: { label: "Attach an image" },
    });
    this.element = h("div", { class: "composer" }, this.slash, this.chips, h("div", { class: "composer-row" }, this.attach, this.files, this.field));
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => this.#drop(event));
  }

  /** What is written. */
  get text() {
    return this.field.value;
  }

  /** Whether there is nothing to send. */
  get isEmpty() {
    return this.text.trim() === "" && this.#images.length === 0;
  }

  /** Goes on with the draft that is kept under a key. */
  begin(draft) {
    this.#options.draft = draft;
    this.field.value = this.#app.drafts.get(draft) ?? "";
    this.#images = [];
    this.#drawImages();
    this.#size();
    this.#hideCommands();
  }

  focus() {
    this.field.focus({ preventScroll: true });
  }

  /** Sends what is written; what does not go stays. */
  async send() {
    if (this.isEmpty) return;
    const message = { text: this.text, images: this.#images.map(({ mime, data }) => ({ mime, data })) };
    const { text } = message;
    if (!(await this.#options.send(message))) return;
    if (this.field.value === text) this.field.value = "";
    this.#images = [];
    this.#drawImages();
    this.#changed();
  }

  #changed() {
    if (this.#options.draft) this.#app.drafts.set(this.#options.draft, this.text);
    this.#size();
    this.#options.changed?.();
    void this.#findCommands();
  }

  // Grows with its text; the style sheet says how far.
  #size() {
    this.field.style.setProperty("height", "auto");
    this.field.style.setProperty("height", `${this.field.scrollHeight + 2}px`);
  }

  #key(event) {
    if (isComposing(event)) return;
    if (!this.slash.hidden && this.#slashKey(event)) return event.preventDefault();
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
    if (event.key === "Enter" && event.altKey) {
      event.preventDefault();
      this.field.setRangeText("\n", this.field.selectionStart, this.field.selectionEnd, "end");
      this.#changed();
    } else if (event.key === "Enter" && (event.ctrlKey || (isPlain && !this.#app.isPhone()))) {
      event.preventDefault();
      if (!event.repeat) void this.send();
    } else if (event.key === "Escape" && isPlain) this.#options.escape?.(event);
    else if (event.key === "Tab" && isPlain && this.#options.tab?.(event)) event.preventDefault();
  }

  // ---- slash commands

  async #findCommands() {
    const word = /^\/(\S*)$/.exec(this.text)?.[1];
    if (word === undefined || !this.#options.commands) return this.#hideCommands();
    const all = (await this.#options.commands()) ?? [];
    if (/^\/(\S*)$/.exec(this.text)?.[1] !== word) return;
    const named = all.map((command) => ({ ...command, name: command.name.replace(/^\//, "") }));
    this.#commands = named.filter((command) => command.name.toLowerCase().startsWith(word.toLowerCase())).slice(0, MOST_COMMANDS);
    this.#at = 0;
    this.#drawCommands();
  }

  #drawCommands() {
    clear(this.slash);
    this.slash.hidden = this.#commands.length === 0;
    this.field.setAttribute("aria-expanded", String(!this.slash.hidden));
    this.#commands.forEach((command, at) => {
      const made = h(
        "li",
        {
          id: `slash-${at}`,
          role: "option",
          class: "slash-row",
          aria: { selected: String(at === this.#at) },
          on: { click: () => this.#complete(at) },
        },
        h("span", { class: "slash-name" }, `/${plain(command.name)}`),
        h("span", { class: "dim" }, plain(command.description)),
      );
      this.slash.append(made);
    });
    if (this.slash.hidden) this.field.removeAttribute("aria-activedescendant");
    else this.field.setAttribute("aria-activedescendant", `slash-${this.#at}`);
  }

  #hideCommands() {
    this.#commands = [];
    this.#drawCommands();
  }

  #slashKey(event) {
    const count = this.#commands.length;
    switch (event.key) {
      case "ArrowDown":
        this.#at = (this.#at + 1) % count;
        break;
      case "ArrowUp":
        this.#at = (this.#at + count - 1) % count;
        break;
      case "Tab":
        this.#complete(this.#at);
        return true;
      case "Enter":
        // A command that is written whole is sent, not completed once more.
        if (this.text === `/${this.#commands[this.#at].name}`) return false;
        this.#complete(this.#at);
        return true;
      case "Escape":
        this.#hideCommands();
        return true;
      default:
        return false;
    }
    this.#drawCommands();
    return true;
  }

  #complete(at) {
    const command = this.#commands[at];
    if (!command) return;
    this.field.value = `/${command.name} `;
    this.#changed();
    this.focus();
  }

  // ---- images

  #paste(event) {
    const images = imagesOf(event.clipboardData);
    if (images.length === 0) return;
    event.preventDefault();
    void this.#take(images);
  }

  #drop(event) {
    event.preventDefault();
    const images = imagesOf(event.dataTransfer);
    if (images.length) return void this.#take(images);
    const text = event.dataTransfer?.getData("text/plain");
    if (!text) return;
    this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    this.#changed();
  }

  async #take(files) {
    for (const file of files) {
      if (this.#images.length >= MOST_IMAGES) return this.#app.toast("warn", `a message takes at most ${MOST_IMAGES} images`);
      const image = await readImage(file).catch(() => null);
      if (!image) this.#app.toast("warn", `${plain(file.name)} is no image that can be read`);
      else if (this.#images.reduce((sum, known) => sum + known.data.length, image.data.length) > MOST_BYTES) this.#app.toast("warn", "these images are too large together");
      else this.#images.push(image);
    }
    this.#drawImages();
    this.#options.changed?.();
  }

  #drawImages() {
    clear(this.chips);
    this.#images.forEach((image, at) => {
      const remove = () => {
        this.#images.splice(at, 1);
        this.#drawImages();
        this.#options.changed?.();
      };
      const picture = h("img", { src: `data:${image.mime};base64,${image.data}`, alt: image.name });
      this.chips.append(h("span", { class: "attachment" }, picture, button("×", remove, { class: "button small", aria: { label: `Remove ${image.name}` } })));
    });
  }
}

function imagesOf(transfer) {
  return [...(transfer?.files ?? [])].filter((file) => file.type.startsWith("image/"));
}

// A large image is made smaller: models see no more of it, and a phone's photo is several MiB.
async function readImage(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONG_SIDE / Math.max(bitmap.width, bitmap.height));
  let blob = file;
  const isKnown = ["image/png", "image/jpeg", "image/gif", "image/webp"].includes(file.type);
  if (scale < 1 || file.size > LARGE_BYTES || !isKnown) {
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
    canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    blob = await canvas.convertToBlob(file.type === "image/png" && file.size < 4 * LARGE_BYTES ? { type: "image/png" } : { type: "image/jpeg", quality: 0.85 });
  }
  bitmap.close();
  return { mime: blob.type, data: await base64(blob), name: plain(file.name) || "image" };
}

function base64(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1]);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
