// What memory holds of a page's bytes: the stored form, the expanded form, both or neither. Filled in as they become known, and weighed
// then, because a cache weighs a container of a hundred pages after every commit.
import type { StoreError } from '../contract/errors.ts';
import type { Page } from './page.ts';

export class PageContent {
  #sealed: Uint8Array | undefined;
  #page: Page | undefined;
  #damage: StoreError | undefined;
  #heldBytes = 0;

  constructor(sealed?: Uint8Array, page?: Page) {
    this.#sealed = sealed;
    this.#page = page;
    this.#weigh();
  }

  /** As the provider has it. */
  get sealed(): Uint8Array | undefined {
    return this.#sealed;
  }

  get page(): Page | undefined {
    return this.#page;
  }

  /** What was wrong with the stored form that was forgotten last: for those who look at the same page before it is read again. */
  get damage(): StoreError | undefined {
    return this.#damage;
  }

  get isKnown(): boolean {
    return this.#page !== undefined || this.#sealed !== undefined;
  }

  /** Memory that the forms take, roughly. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes the stored form in, unless one of the forms is there. */
  offer(sealed: Uint8Array | undefined): void {
    if (this.isKnown) return;
    this.#sealed = sealed;
    this.#weigh();
  }

  /** One form is enough: a split seals anew what moves, and is rare. */
  expandTo(page: Page): void {
    this.#page = page;
    this.#sealed = undefined;
    this.#weigh();
  }

  /** The stored form is damaged: the next reader asks for it anew. */
  forget(damage: StoreError): void {
    this.#sealed = undefined;
    this.#damage = damage;
    this.#weigh();
  }

  #weigh(): void {
    this.#heldBytes = this.#sealed?.length ?? 0;
    if (this.#page !== undefined) this.#heldBytes += this.#page.body.length + 8 * this.#page.starts.length;
  }
}
