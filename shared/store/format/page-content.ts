// A page's bytes: sealed (as stored), expanded, both or neither. The cache sums their size.
import type { StoreError } from '../contract/errors.ts';
import { owned } from './bytes.ts';
import type { Page } from './page-body.ts';

/** The objects that stand for one piece of memory, as V8 makes them, measured. */
const OBJECTS_BYTES = 256;
/** A start in an array that grew: V8 allocates half as many more. */
const START_BYTES = 12;

/** Filled in when the bytes become known. All snapshots with the same page share it. */
export class PageContent {
  sealed: Uint8Array | undefined;
  page: Page | undefined;
  /** Why the stored form was forgotten, until the page is read again. */
  damage: StoreError | undefined;
  /** The memory of both forms. */
  heldBytes = 0;

  constructor(sealed?: Uint8Array, page?: Page) {
    this.#hold(sealed, page);
  }

  get isKnown(): boolean {
    return this.page !== undefined || this.sealed !== undefined;
  }

  /** Keeps the stored form, unless a form is there already. */
  offer(sealed: Uint8Array | undefined): void {
    if (!this.isKnown) this.#hold(sealed && owned(sealed), undefined);
  }

  /** Drops the stored form: only a split would need it, and seals the page anew. */
  expandTo(page: Page): void {
    this.#hold(undefined, page);
  }

  /** Drops the damaged stored form, so that the next reader asks for it again. */
  forget(damage: StoreError): void {
    this.#hold(undefined, this.page);
    this.damage = damage;
  }

  #hold(sealed: Uint8Array | undefined, page: Page | undefined): void {
    this.sealed = sealed;
    this.page = page;
    const sealedBytes = sealed === undefined ? 0 : OBJECTS_BYTES + sealed.length;
    const pageBytes = page === undefined ? 0 : OBJECTS_BYTES + page.body.length + START_BYTES * page.starts.length;
    this.heldBytes = sealedBytes + pageBytes;
  }
}
