// The bytes of a page in memory: sealed (as stored), expanded, both or neither, and their size.
import type { StoreError } from '../contract/errors.ts';
import { owned } from './bytes.ts';
import type { Page } from './page-body.ts';

/** Memory of the objects that V8 makes for one buffer, measured. */
const OBJECTS_BYTES = 256;
/** Memory per record start: 8 bytes, and half as many more as V8's arrays grow in steps. */
const START_BYTES = 12;

/** Filled in when the bytes become known. All snapshots that have the page share one object. */
export class PageContent {
  sealed: Uint8Array | undefined;
  page: Page | undefined;
  /** Why the sealed form was dropped; undefined otherwise. */
  damage: StoreError | undefined;
  /** The memory that both forms take. The cache's bound counts it. */
  heldBytes = 0;

  constructor(sealed?: Uint8Array, page?: Page) {
    this.#hold(sealed, page);
  }

  get isKnown(): boolean {
    return this.page !== undefined || this.sealed !== undefined;
  }

  /** Keeps the sealed form, unless either form is known. */
  offer(sealed: Uint8Array | undefined): void {
    if (!this.isKnown) this.#hold(sealed && owned(sealed), undefined);
  }

  /** Replaces the sealed form, which only a split or a replace needs and can make anew. */
  expandTo(page: Page): void {
    this.#hold(undefined, page);
  }

  /** Drops the damaged or missing sealed form, so that the next reader asks for it again. */
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
