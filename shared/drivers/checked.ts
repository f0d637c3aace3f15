// Checks each call that the engine makes to a driver. A call that breaks the contract is a bug of
// the engine and becomes a TypeError before anything is sent, because a provider would take a
// missing version, or `*`, for "write in any case".
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

/** Wraps a driver in these checks: for tests, and to search an installation for a fault. */
export function checked(driver: Driver): Driver & AsyncDisposable {
  const { limits } = driver;
  return disposable({
    limits,
    read: (requests, options) => misuse(() => checkReads(requests, limits)) ?? driver.read(requests, options),
    write: (writes, options) => misuse(() => checkWrites(writes, limits)) ?? driver.write(writes, options),
    remove: (removals, options) => misuse(() => checkRemovals(removals, limits)) ?? driver.remove(removals, options),
    list: (prefix, cursor, count, options) =>
      misuse(() => checkList(prefix, count, limits)) ?? driver.list(prefix, cursor, count, options),
    close: () => driver.close(),
  });
}

/** A rejection with the error that `check` throws; undefined if it throws none. */
function misuse(check: () => void): Promise<never> | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return Promise.reject(error);
  }
}

function checkReads(requests: readonly ReadRequest[], limits: DriverLimits): void {
  checkIds(requests, limits);
  checkCount('reads', requests.length, limits.readsMax);
  for (const { parts } of requests) {
    if (parts !== 'all') for (const name of parts) checkPartName(name);
  }
}

/** A single write may exceed `writeBytesMax`: the provider then refuses it, which is an outcome. */
function checkWrites(writes: readonly Write[], limits: DriverLimits): void {
  checkMembers('writes', writes, limits);
  for (const write of writes) {
    if (write.kind !== 'insert') checkVersion(write.id, write.version);
    checkParts(write);
  }
  const bytes = writes.reduce((sum, write) => sum + partBytes(write.parts), 0);
  if (writes.length > 1 && bytes > limits.writeBytesMax)
    throw new TypeError(`a request carries too many bytes: bytes=${bytes} writeBytesMax=${limits.writeBytesMax}`);
}

function checkRemovals(removals: readonly Removal[], limits: DriverLimits): void {
  checkMembers('removals', removals, limits);
  for (const { id, version } of removals) checkVersion(id, version);
}

function checkList(prefix: string, count: number, limits: DriverLimits): void {
  if (!ID_PREFIX.test(prefix)) throw new TypeError(`not a prefix of ids: prefix=${JSON.stringify(prefix)}`);
  checkCount('ids', count, limits.listMax);
}

function checkCount(what: string, count: number, countMax: number): void {
  if (!Number.isInteger(count) || count < 1 || count > countMax)
    throw new TypeError(`a request takes 1 to ${countMax} ${what}: count=${count}`);
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

function checkMembers(what: string, entries: readonly { readonly id: EntityId }[], limits: DriverLimits): void {
  checkIds(entries, limits);
  checkCount(what, entries.length, limits.writesMax);
  const lanes = new Set(entries.map(({ id }) => limits.lane(id)));
  if (lanes.size > 1) throw new TypeError(`a request mixes lanes: lanes=${[...lanes].join(',')}`);
}

function checkVersion(id: string, version: EntityVersion): void {
  if (typeof version !== 'string' || version === '' || version.includes('*'))
    throw new TypeError(`a write needs the version it was decided on: id=${id} version=${JSON.stringify(version)}`);
}

function checkParts(write: Write): void {
  const names = new Set<string>();
  for (const { name, bytes, chunksBefore } of write.parts) {
    checkPartName(name);
    if (name.length === 1 && bytes.byteLength > SMALL_PART_BYTES_MAX)
      throw new TypeError(`a part this large needs a numbered name: id=${write.id} part=${name} bytes=${bytes.length}`);
    if (names.has(name)) throw new TypeError(`a part stands twice in one write: id=${write.id} part=${name}`);
    if (!Number.isInteger(chunksBefore) || chunksBefore < 0)
      throw new TypeError(`chunksBefore is no count: id=${write.id} part=${name} chunksBefore=${chunksBefore}`);
    names.add(name);
  }
}

function checkPartName(name: string): void {
  if (!isPartName(name)) throw new TypeError(`not a part name: part=${JSON.stringify(name)}`);
}
