// A database in memory with tiny limits, and processes on it in virtual time, with faults.
import { crc32 } from 'node:zlib';
import { type MemoryCall, memoryDriver, type MemoryFault, memoryState } from '../../../shared/drivers/memory.ts';
import type {
  Driver,
  DriverLimits,
  EntityId,
  PartName,
  ReadRequest,
  Write,
} from '../../../shared/store/contract/driver.ts';
import { openStore, type Store, type StoreOptions } from '../../../shared/store/index.ts';
import { entityVersion } from '../../support/ids.ts';
import { VirtualRuntime } from '../../support/virtual-runtime.ts';

/** A container of some 4,000 bytes of records, in pages of a few hundred. */
export const TINY: Partial<DriverLimits> = {
  entityBytesMax: 6_000,
  entityOverheadBytes: 100,
  chunkOverheadBytes: 8,
  chunkBytes: 32_768,
  chunksMax: 60,
  listMax: 5,
};

/** Returns undefined for a call that meets no fault. */
export type Rule = (call: MemoryCall) => MemoryFault | undefined | Promise<MemoryFault | undefined>;

export class Process {
  readonly store: Store;
  /** Every call that reached the provider from this process, in order. */
  readonly calls: MemoryCall[] = [];
  readonly #rules: Rule[] = [];

  constructor(world: World, options: Partial<StoreOptions> = {}) {
    const faults = async (call: MemoryCall): Promise<MemoryFault | undefined> => {
      this.calls.push(call);
      // A rule may remove itself while it is called.
      for (const rule of this.#rules.slice()) {
        const fault = await rule(call);
        if (fault !== undefined) return fault;
      }
      return undefined;
    };
    this.store = openStore({ driver: world.driver(faults), runtime: world.runtime, compression: 'none', ...options });
  }

  /** Calls the rule for each call from now on. The function that is returned removes the rule. */
  rule(rule: Rule): () => void {
    this.#rules.push(rule);
    return () => void this.#rules.splice(this.#rules.indexOf(rule), 1);
  }

  /** The next call that matches meets the fault; later ones do not. */
  once(matches: (call: MemoryCall) => boolean, fault: MemoryFault | Rule): void {
    const end = this.rule((call) => {
      if (!matches(call)) return undefined;
      end();
      return typeof fault === 'function' ? fault(call) : fault;
    });
  }

  /** Calls since the last time that calls were taken. */
  takeCalls(): MemoryCall[] {
    return this.calls.splice(0);
  }

  /** What was read since the last time that calls were taken, entity by entity. */
  takeReads(): ReadRequest[] {
    return this.takeCalls().flatMap((call) => (call.kind === 'read' ? call.requests : []));
  }

  get writes(): Write[] {
    return this.calls.flatMap((call) => (call.kind === 'write' ? call.writes : []));
  }
}

export class World {
  readonly state = memoryState();
  readonly runtime: VirtualRuntime;
  readonly limits: Partial<DriverLimits>;

  constructor({ seed = 1, limits = TINY }: { seed?: number; limits?: Partial<DriverLimits> } = {}) {
    this.runtime = new VirtualRuntime(seed);
    this.limits = limits;
  }

  process(options?: Partial<StoreOptions>): Process {
    return new Process(this, options);
  }

  driver(faults?: Rule): Driver {
    return memoryDriver({ state: this.state, limits: this.limits, ...(faults && { faults }) });
  }

  run<T>(work: Promise<T>): Promise<T> {
    return this.runtime.run(work);
  }
}

export function isWrite({ kind }: MemoryCall): boolean {
  return kind === 'write' || kind === 'remove';
}

export function isWriteOf(kind: Write['kind'], id?: string): (call: MemoryCall) => boolean {
  return (call) =>
    call.kind === 'write' && call.writes.some((write) => write.kind === kind && (id === undefined || write.id === id));
}

export function isReadOf(id: string): (call: MemoryCall) => boolean {
  return (call) => call.kind === 'read' && call.requests.some((request) => request.id === id);
}

export function isWholeRead(call: MemoryCall): boolean {
  return call.kind === 'read' && call.requests.some(({ parts }) => parts === 'all');
}

export function isRemovalOf(id: string): (call: MemoryCall) => boolean {
  return (call) => call.kind === 'remove' && call.removals.some((removal) => removal.id === id);
}

export function key(number: number): string {
  return `k${String(number).padStart(4, '0')}`;
}

/** Some `bytes` of text that no compression shrinks away. */
export function text(seed: string | number, bytes = 100): string {
  return String(seed).padEnd(bytes, '.');
}

/** Changes the stored parts of a container, as nobody but damage does. */
export function change({ state }: World, id: EntityId, edit: (parts: Map<PartName, Uint8Array>) => void): void {
  const { version, parts, chunksPeak } = state.entities.get(id)!;
  const edited = new Map(parts);
  edit(edited);
  state.entities.set(id, { version: entityVersion(`${version}x`), parts: edited, chunksPeak });
}

/** A bit of a stored part turns over. */
export function damage(world: World, id: EntityId, part: PartName): void {
  change(world, id, (parts) => void parts.set(part, flipped(parts.get(part)!)));
}

/** A copy, with a bit in its midst turned over. */
export function flipped(bytes: Uint8Array): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1]! ^= 1;
  return copy;
}

/** A copy, with the CRC-32 in its last bytes made right; FORMAT.md seeds that of cursors. */
export function resealed(bytes: Uint8Array, seed = 0): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(crc32(copy.subarray(0, -4), seed), copy.length - 4);
  return copy;
}
