// The driver contract in memory, which specifies it and serves tests and simulations. Like
// memory/effects.ts it promises no more than the weakest provider. `faults` plans failures.
import type {
  Driver,
  DriverLimits,
  ListCursor,
  ReadRequest,
  Refused,
  Removal,
  Unknown,
  Write,
} from '../store/contract/driver.ts';
import { StoreError } from '../store/contract/errors.ts';
import { FUNCTION, OBJECT, optionsOf } from '../store/contract/check-options.ts';
import { refused, unknown } from './common/driver-outcomes.ts';
import { driverClosed } from './common/under-way.ts';
import { checked } from './checked.ts';
import { memoryEffects, type MemoryState, memoryState } from './memory/effects.ts';

export { type MemoryState, memoryState } from './memory/effects.ts';

/** One call, as it arrives at the provider. */
export type MemoryCall = { readonly timeoutMs: number } & (
  | { readonly kind: 'read'; readonly requests: readonly ReadRequest[] }
  | { readonly kind: 'write'; readonly writes: readonly Write[] }
  | { readonly kind: 'remove'; readonly removals: readonly Removal[] }
  | { readonly kind: 'list'; readonly prefix: string; readonly cursor: ListCursor | undefined; readonly count: number }
);

/** In any combination. A read or list that fails rejects; writes and removals become `unknown`. */
export interface MemoryFault {
  /** The call fails and never has an effect. */
  readonly fail?: 'throttled' | 'unavailable';
  /** Rejects a read or list, refuses writes or removals. Only `again` still has an effect. */
  readonly refuse?: 'denied' | 'throttled' | 'unsent';
  /** The call fails. Each `deliver` has its effect if its conditions hold by then. */
  readonly late?: (deliver: () => void) => void;
  /** After the usual effect and reply, each `deliver` has the effect once more. */
  readonly again?: (deliver: () => void) => void;
  /** The effect happens, then the call fails. */
  readonly replyLost?: true;
  /** The reply or failure, but not the effect, waits for this promise. */
  readonly reply?: Promise<unknown>;
  /** Of several writes or removals only these, by index, are applied; then the call fails. */
  readonly only?: readonly number[];
  /** A listing answers no ids, but a cursor. */
  readonly emptyPage?: true;
}

/** Asked once per call, before its effect. The request is under way until its promise resolves. */
export type MemoryFaults = (call: MemoryCall) => MemoryFault | undefined | Promise<MemoryFault | undefined>;

export interface MemoryOptions {
  /** Default: a state of its own. */
  readonly state?: MemoryState;
  readonly limits?: Partial<DriverLimits>;
  /** Default: nothing goes wrong. */
  readonly faults?: MemoryFaults;
}

const DEFAULT_LIMITS: DriverLimits = {
  provider: 'memory',
  entityBytesMax: 1_000_000,
  entityOverheadBytes: 1_024,
  commitsWait: false,
  chunkOverheadBytes: 24,
  chunkBytes: 65_532,
  chunksMax: 240,
  idBytesMax: 400,
  readsMax: 100,
  writesMax: 100,
  writeBytesMax: 3_000_000,
  listMax: 1_000,
  inFlightMax: 64,
  lane: () => '',
};

const NO_FAULT: MemoryFault = {};
const TURNED_AWAY = {
  denied: new StoreError('unavailable', 'the test denies access: let it grant some', { retryable: false }),
  throttled: new StoreError('throttled', 'the test asks to slow down, try again later', { retryAfterMs: 100 }),
  unsent: new StoreError('unavailable', 'the test lets nothing out: connect ECONNREFUSED 127.0.0.1:1'),
};
/** Sorts before all ids. */
const AT_START = '' as ListCursor;

const check = optionsOf<MemoryOptions>('memoryDriver', { state: OBJECT, limits: OBJECT, faults: FUNCTION });

/** Checks each call. Throws a TypeError for options that do not exist or have a wrong type. */
export function memoryDriver(options: MemoryOptions = {}): Driver & AsyncDisposable {
  check(options);
  const state = options.state ?? memoryState();
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const effects = memoryEffects(state, limits);
  let closed = false;

  function refusalFor(refuse: keyof typeof TURNED_AWAY): StoreError {
    return closed ? driverClosed() : TURNED_AWAY[refuse];
  }

  /** If nothing can go wrong, it answers without waiting. */
  function isFaultless(): boolean {
    return options.faults === undefined && !closed;
  }

  async function arrive(call: MemoryCall): Promise<MemoryFault> {
    if (closed) return { refuse: 'unsent' };
    return (await options.faults?.(call)) ?? NO_FAULT;
  }

  async function ask<T>(call: MemoryCall, answer: (fault: MemoryFault) => T): Promise<T> {
    if (isFaultless()) return answer(NO_FAULT);
    const fault = await arrive(call);
    const result = answer(fault);
    await fault.reply;
    if (fault.refuse !== undefined) throw refusalFor(fault.refuse);
    if (fault.fail !== undefined || fault.late !== undefined || fault.replyLost === true)
      throw new StoreError(fault.fail ?? 'unavailable', 'the request failed, try again');
    return result;
  }

  async function change<T, O>(
    call: MemoryCall,
    members: readonly T[],
    apply: (members: readonly T[], only?: readonly number[]) => readonly O[],
  ): Promise<readonly (O | Refused | Unknown)[]> {
    if (isFaultless()) return apply(members);
    const fault = await arrive(call);
    const { refuse } = fault;
    const deliver = () => apply(members, fault.only);
    if (refuse !== undefined) {
      fault.again?.(() => void deliver());
      await fault.reply;
      return members.map(() => refused(refuse, refusalFor(refuse)));
    }
    const sent = fault.fail === undefined && fault.late === undefined;
    const outcomes = sent ? deliver() : undefined;
    fault.late?.(() => void deliver());
    fault.again?.(() => void deliver());
    await fault.reply;
    if (outcomes !== undefined && fault.replyLost !== true) return outcomes;
    return members.map(() => unknown(fault.fail === 'throttled' ? 'throttled' : 'other'));
  }

  return checked({
    limits,
    read(requests, { timeoutMs }) {
      return ask({ kind: 'read', requests, timeoutMs }, () => effects.read(requests));
    },
    write(writes, { timeoutMs }) {
      const copies = writes.map(copyOf);
      return change({ kind: 'write', writes, timeoutMs }, copies, (all, only) => effects.write(all, only));
    },
    remove(removals, { timeoutMs }) {
      return change({ kind: 'remove', removals, timeoutMs }, removals, (all, only) => effects.remove(all, only));
    },
    list(prefix, cursor, count, { timeoutMs }) {
      return ask({ kind: 'list', prefix, cursor, count, timeoutMs }, ({ emptyPage }) =>
        emptyPage === true
          ? { ids: [], cursor: cursor ?? AT_START }
          : effects.list({ prefix, after: cursor ?? '', count }),
      );
    },
    async close() {
      closed = true;
    },
  });
}

/** Copies bytes. A Buffer's `slice` would share its memory. */
function copyOf(write: Write): Write {
  return { ...write, parts: write.parts.map((part) => ({ ...part, bytes: new Uint8Array(part.bytes) })) };
}
