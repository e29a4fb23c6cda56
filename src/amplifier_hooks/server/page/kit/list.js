// @ts-check
// A list that keeps the elements of what has not changed, and with them focus and selection.

/** @template T */
export class KeptList {
  /** @type {Map<string, {version: unknown, element: HTMLElement}>} */
  #kept = new Map();
  #container;
  #identify;
  #build;

  /**
   * @param {HTMLElement} container
   * @param {(item: T) => [string, unknown]} identify  its key, and what changes when it does
   * @param {(item: T) => HTMLElement} build
   */
  constructor(container, identify, build) {
    this.#container = container;
    this.#identify = identify;
    this.#build = build;
  }

  /** @param {T[]} items */
  show(items) {
    const kept = new Map();
    for (const item of items) {
      const [key, version] = this.#identify(item);
      const known = this.#kept.get(key);
      kept.set(key, known?.version === version ? known : { version, element: this.#build(item) });
    }
    this.#kept = kept;
    this.#place([...kept.values()].map((one) => one.element));
  }

  /** @param {HTMLElement[]} elements */
  #place(elements) {
    const wanted = new Set(elements);
    for (const child of [...this.#container.children]) {
      if (!wanted.has(/** @type {HTMLElement} */ (child))) child.remove();
    }
    elements.forEach((element, at) => {
      // Moving an element would take the focus from it.
      if (this.#container.children[at] !== element) {
        this.#container.insertBefore(element, this.#container.children[at] ?? null);
      }
    });
  }
}
