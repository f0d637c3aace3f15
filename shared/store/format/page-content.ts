// The bytes of one page in memory: sealed (as stored), expanded, both or neither. Their size is counted whenever they change, because a cache
// weighs a container of a hundred pages after every commit.
import type { StoreError } from '../contract/errors.ts';
import type { Page } from './page.ts';

/** Filled in as the bytes become known; shared by all snapshots in which the page is the same. */
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

  /** Expanded. */
  get page(): Page | undefined {
    return this.#page;
  }

  /** Why the stored form was forgotten, for whoever looks at the page before it is read again. */
  get damage(): StoreError | undefined {
    return this.#damage;
  }

  /** Whether either form is in memory. */
  get isKnown(): boolean {
    return this.#page !== undefined || this.#sealed !== undefined;
  }

  /** Memory that both forms take, roughly. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Keeps the stored form, unless either form is there already. */
  offer(sealed: Uint8Array | undefined): void {
    if (this.isKnown) return;
    this.#sealed = sealed;
    this.#weigh();
  }

  /** Keeps the expanded form and drops the stored one: only a split needs that again, and seals the page anew. */
  expandTo(page: Page): void {
    this.#page = page;
    this.#sealed = undefined;
    this.#weigh();
  }

  /** Drops the stored form, which is damaged, so that the next reader asks for it again. */
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
