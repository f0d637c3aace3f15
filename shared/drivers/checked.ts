// Checks what the engine asks of a driver. A call that breaks the contract is the engine's bug: a
// TypeError before anything is sent. Providers read a missing version or `*` as "unconditionally".
import {
  type Driver,
  type DriverLimits,
  type EntityVersion,
  type EntityId,
  isPartName,
  partBytes,
  type ReadRequest,
  type Removal,
  type Write,
} from '../store/contract/driver.ts';
import { disposable } from './common/factory.ts';

const ID = /^[A-Za-z0-9._\-!~]+$/;
const ID_PREFIX = /^[A-Za-z0-9._\-!~]*$/;
const SMALL_PART_BYTES_MAX = 32 * 1024;

/** The driver behind checks of each call: for tests, and for an installation that is suspected. */
export function checked(driver: Driver): Driver & AsyncDisposable {
  const { limits } = driver;
  return disposable({
    limits,
    read: (requests, options) =>
      unlessMisuse(
        () => checkReads(requests, limits),
        () => driver.read(requests, options),
      ),
    write: (writes, options) =>
      unlessMisuse(
        () => checkWrites(writes, limits),
        () => driver.write(writes, options),
      ),
    remove: (removals, options) =>
      unlessMisuse(
        () => checkRemovals(removals, limits),
        () => driver.remove(removals, options),
      ),
    list: (prefix, cursor, count, options) =>
      unlessMisuse(
        () => checkList(prefix, count, limits),
        () => driver.list(prefix, cursor, count, options),
      ),
    close: () => driver.close(),
  });
}

/** Rejects with what `check` throws, before anything is sent. */
function unlessMisuse<T>(check: () => void, send: () => Promise<T>): Promise<T> {
  try {
    check();
  } catch (error) {
    return Promise.reject(error);
  }
  return send();
}

function checkReads(requests: readonly ReadRequest[], limits: DriverLimits): void {
  checkIds(requests, limits);
  checkCount('reads', requests.length, limits.readsMax);
  for (const { parts } of requests) {
    if (parts !== 'all') for (const name of parts) checkPartName(name);
  }
}

/** A write over `writeBytesMax` passes: the provider's limit is an outcome, not misuse. */
function checkWrites(writes: readonly Write[], limits: DriverLimits): void {
  checkIds(writes, limits);
  checkCount('writes', writes.length, limits.writesMax);
  checkOneLane(writes, limits);
  for (const write of writes) {
    if (write.kind !== 'insert') checkVersion(write.id, write.version);
    checkParts(write);
  }
  const bytes = writes.reduce((sum, write) => sum + partBytes(write.parts), 0);
  if (writes.length > 1 && bytes > limits.writeBytesMax) {
    throw new TypeError(`a request carries too many bytes: bytes=${bytes} writeBytesMax=${limits.writeBytesMax}`);
  }
}

function checkRemovals(removals: readonly Removal[], limits: DriverLimits): void {
  checkIds(removals, limits);
  checkCount('removals', removals.length, limits.writesMax);
  checkOneLane(removals, limits);
  for (const { id, version } of removals) checkVersion(id, version);
}

function checkList(prefix: string, count: number, limits: DriverLimits): void {
  if (!ID_PREFIX.test(prefix)) throw new TypeError(`not a prefix of ids: prefix=${JSON.stringify(prefix)}`);
  checkCount('ids', count, limits.listMax);
}

function checkCount(what: string, count: number, countMax: number): void {
  if (!Number.isInteger(count) || count < 1 || count > countMax) {
    throw new TypeError(`a request takes 1 to ${countMax} ${what}: count=${count}`);
  }
}

function checkIds(entries: readonly { readonly id: EntityId }[], limits: DriverLimits): void {
  const seen = new Set<string>();
  for (const { id } of entries) {
    if (!ID.test(id) || id.length > limits.idBytesMax)
      throw new TypeError(`not an entity id: id=${JSON.stringify(id)}`);
    if (seen.has(id)) throw new TypeError(`an entity stands twice in one request: id=${id}`);
    seen.add(id);
  }
}

function checkOneLane(entries: readonly { readonly id: EntityId }[], limits: DriverLimits): void {
  const lanes = new Set(entries.map(({ id }) => limits.lane(id)));
  if (lanes.size > 1) throw new TypeError(`a request mixes lanes: lanes=${[...lanes].join(',')}`);
}

function checkVersion(id: string, version: EntityVersion): void {
  if (typeof version !== 'string' || version === '' || version.includes('*')) {
    throw new TypeError(`a write needs the version it was decided on: id=${id} version=${JSON.stringify(version)}`);
  }
}

function checkParts(write: Write): void {
  const names = new Set<string>();
  for (const { name, bytes, chunksBefore } of write.parts) {
    checkPartName(name);
    if (name.length === 1 && bytes.byteLength > SMALL_PART_BYTES_MAX)
      throw new TypeError(`a part this large needs a numbered name: id=${write.id} part=${name} bytes=${bytes.length}`);
    if (names.has(name)) throw new TypeError(`a part stands twice in one write: id=${write.id} part=${name}`);
    if (!Number.isInteger(chunksBefore) || chunksBefore < 0) {
      throw new TypeError(`chunksBefore is no count: id=${write.id} part=${name} chunksBefore=${chunksBefore}`);
    }
    names.add(name);
  }
}

function checkPartName(name: string): void {
  if (!isPartName(name)) throw new TypeError(`not a part name: part=${JSON.stringify(name)}`);
}
