// A page's bytes: sealed (as stored), expanded, both or neither. The cache sums their size.
import type { StoreError } from '../contract/errors.ts';
import type { Page } from './page.ts';

/** Filled in when the bytes become known. All snapshots with the same page share it. */
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

  get sealed(): Uint8Array | undefined {
    return this.#sealed;
  }

  get page(): Page | undefined {
    return this.#page;
  }

  /** Why the stored form was forgotten, until the page is read again. */
  get damage(): StoreError | undefined {
    return this.#damage;
  }

  get isKnown(): boolean {
    return this.#page !== undefined || this.#sealed !== undefined;
  }

  /** The memory of both forms, roughly. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Keeps the stored form, unless a form is there already. */
  offer(sealed: Uint8Array | undefined): void {
    if (this.isKnown) return;
    this.#sealed = sealed;
    this.#weigh();
  }

  /** Drops the stored form: only a split would need it, and seals the page anew. */
  expandTo(page: Page): void {
    this.#page = page;
    this.#sealed = undefined;
    this.#weigh();
  }

  /** Drops the damaged stored form, so that the next reader asks for it again. */
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
