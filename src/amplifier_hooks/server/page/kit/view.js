// @ts-check
// What all custom elements here share: a life that ends their listeners and requests.

export class View extends HTMLElement {
  life = new AbortController();

  connectedCallback() {
    this.life = new AbortController();
    this.show();
  }

  disconnectedCallback() {
    this.life.abort();
  }

  /** Fill the element; called when it is put into the page. */
  show() {}

  /**
   * Listen as long as the element is in the page.
   * @param {EventTarget} target
   * @param {string} type
   * @param {(event: any) => void} listener
   */
  listen(target, type, listener) {
    target.addEventListener(type, listener, { signal: this.life.signal });
  }

  /**
   * Do something again and again as long as the element is in the page.
   * @param {number} milliseconds
   * @param {() => void} work
   */
  repeat(milliseconds, work) {
    const timer = setInterval(work, milliseconds);
    this.life.signal.addEventListener("abort", () => clearInterval(timer));
  }
}
