// Examines a place over each transport: what the credentials may do, which promises of the driver
// contract are broken, and how long requests take. It prints nothing and writes no file.
import { checked } from '../../../shared/drivers/checked.ts';
import {
  type Around,
  CALL,
  freshPrefix,
  insert,
  part,
  patch,
  readOne,
  removeOne,
  replace,
  writeOne,
} from '../../../shared/drivers/conformance/check-calls.ts';
import { type Broken, brokenAmong, CONFORMANCE, reasonOf, RECORDED } from '../../../shared/drivers/conformance/run.ts';
import { type DriverCounters, measured } from '../../../shared/drivers/measured.ts';
import type { SlowProfile } from '../../../shared/drivers/slow/profiles.ts';
import type { Driver, EntityVersion } from '../../../shared/store/contract/driver.ts';
import { type Latency, measure } from './measure.ts';
import { type Exchange, recordedPrefix, type Recording } from './recording.ts';

/** The drivers' own requests, or the cloud's own client. */
type TransportName = 'own' | 'sdk';

export interface Transport extends Around {
  readonly name: TransportName;
  open(): Driver;
}

/** One account. The examination works in a table or kind of its own. */
export interface Place {
  readonly provider: 'datastore' | 'azure-tables';
  /** As it was given; it holds no secret. */
  readonly address: string;
  readonly isEmulator: boolean;
  /** The table or kind. */
  readonly name: string;
  readonly transports: readonly Transport[];
  /** How the comparison's emulators imitate this service. */
  readonly assumed: SlowProfile;
  /** Opens a driver over the own transport, whose requests and replies the recording keeps. */
  recorded(recording: Exchange[]): Driver;
  /** What a driver must be opened with to send the same requests again. */
  readonly space: Readonly<Record<string, string>>;
  /** The service's time by the header Date of a reply; undefined if it tells none. */
  serviceTimeMs(): Promise<number | undefined>;
  /** Undefined if it is not known. */
  region(): Promise<string | undefined>;
  /** Removes the table, or all entities of the kind. */
  remove(): Promise<void>;
  /** The text without the credentials that were used. */
  withoutSecrets(text: string): string;
}

/** What was seen over one transport. */
export interface Seen {
  readonly transport: TransportName;
  readonly refused: readonly Refusal[];
  readonly checks: number;
  readonly broken: readonly Broken[];
  readonly counters: Readonly<DriverCounters>;
  readonly latencies: Readonly<Record<string, Latency>>;
  readonly commitsPerSecond: number | null;
}

export interface Examination {
  readonly stowageDoctor: 1;
  readonly startedAt: string;
  readonly address: string;
  readonly provider: Place['provider'];
  readonly isEmulator: boolean;
  readonly node: string;
  readonly region: string | null;
  /** By how much this machine's clock is ahead of the service's. */
  readonly clockAheadMs: number | null;
  readonly transports: readonly Seen[];
  /** As the comparison's emulators take it; limits and locks are assumed. */
  readonly profile: SlowProfile | null;
  /** What breaks a promise or a rule of DESIGN.md: the place is not fit. */
  readonly broken: readonly string[];
  /** What differs from what is assumed, and breaks nothing. */
  readonly unlike: readonly string[];
  /** What could not be removed. */
  readonly left: string | null;
}

export interface ExamineOptions {
  /** Timed requests of each kind. */
  readonly requests: number;
  readonly signal: AbortSignal;
  /** Called with requests and replies to keep. Default: none are recorded. */
  readonly onRecorded?: (recording: Recording) => Promise<void>;
  /** Told what is done next. */
  readonly onStep?: (what: string) => void;
  /** Told what could not be removed. */
  readonly onLeft: (what: string) => void;
}

/** Rejects only with the signal's reason. Whatever happens, it removes what it wrote. */
export async function examine(place: Place, options: ExamineOptions): Promise<Examination> {
  const { signal, onRecorded, onStep = () => {}, onLeft } = options;
  const startedAt = new Date().toISOString();
  const unlike: string[] = [];
  const seen: Seen[] = [];
  let profile: SlowProfile | null = null;
  let left: string | null = null;
  const clockAheadMs = await clockAhead(place);
  const region = (await place.region().catch(() => undefined)) ?? null;
  try {
    for (const transport of place.transports) {
      const one = await examineOver(place, transport, { ...options, onStep });
      seen.push(one.seen);
      unlike.push(...one.unlike);
      profile ??= one.profile;
    }
    if (onRecorded !== undefined) {
      onStep('own: recording');
      await onRecorded(await recordOf(place, signal));
    }
  } finally {
    onStep('removing what was written');
    left = await place.remove().then(
      () => null,
      (error: unknown) => `${place.name}: ${reasonOf(error)}`,
    );
    if (left !== null) onLeft(left);
  }
  return {
    stowageDoctor: 1,
    startedAt,
    address: place.address,
    provider: place.provider,
    isEmulator: place.isEmulator,
    node: process.versions.node,
    region,
    clockAheadMs,
    transports: seen,
    profile,
    broken: [...clockText(clockAheadMs), ...seen.flatMap(brokenTexts)],
    unlike: [...unlike, ...(profile === null ? [] : slowerThan(profile, place.assumed))],
    left,
  };
}

async function examineOver(
  place: Place,
  transport: Transport,
  { requests, signal, onStep }: Required<Pick<ExamineOptions, 'requests' | 'signal' | 'onStep'>>,
) {
  const { name } = transport;
  const { driver, counters } = measured(checked(transport.open()));
  // Ctrl-C also ends the requests under way.
  const end = (): void => void driver.close();
  signal.addEventListener('abort', end, { once: true });
  let [broken, latencies, commitsPerSecond]: [Broken[], Seen['latencies'], number | null] = [[], {}, null];
  let profile: SlowProfile | null = null;
  const unlike: string[] = [];
  try {
    onStep(`${name}: what the credentials may do`);
    const refused = await refusedTo(driver);
    if (refused.length === 0) {
      const onCheck = ({ name: what }: { readonly name: string }): void => onStep(`${name}: ${what}`);
      broken = await brokenAmong(CONFORMANCE, driver, transport, { signal, onCheck });
      onStep(`${name}: how long requests take`);
      try {
        const asked = { requests, assumed: place.assumed, signal };
        ({ latencies, commitsPerSecond, profile } = await measure(driver, asked));
      } catch (error) {
        signal.throwIfAborted();
        broken.push({ check: 'requests that follow each other succeed', why: reasonOf(error) });
      }
    }
    signal.throwIfAborted();
    if (counters.throttled > 0) unlike.push(`${name}: ${counters.throttled} requests were throttled`);
    const seen = {
      transport: name,
      refused,
      checks: CONFORMANCE.length,
      broken,
      counters,
      latencies,
      commitsPerSecond,
    };
    return { seen, profile, unlike };
  } finally {
    signal.removeEventListener('abort', end);
    await driver.close();
  }
}

/** Kinds of requests; on Azure `list` comes first, as it also creates the table. */
type AccessKind = 'list' | 'insert' | 'read' | 'patch' | 'replace' | 'remove';

interface Refusal {
  readonly kind: AccessKind;
  readonly why: string;
}

/** The requests that were refused or failed; the credentials allow all others. */
async function refusedTo(driver: Driver): Promise<Refusal[]> {
  const id = freshPrefix();
  const refusals: Refusal[] = [];
  let version = '' as EntityVersion;
  const trial = async (kind: AccessKind, ask: () => Promise<unknown>): Promise<void> => {
    try {
      const outcome = (await ask()) as { readonly kind?: string; readonly version?: EntityVersion } | undefined;
      if (outcome?.kind === 'refused' || outcome?.kind === 'unknown') refusals.push({ kind, why: reasonOf(outcome) });
      else version = outcome?.version ?? version;
    } catch (error) {
      refusals.push({ kind, why: reasonOf(error) });
    }
  };
  await trial('list', () => driver.list(id, undefined, 1, CALL));
  await trial('insert', () => writeOne(driver, insert(id, [part('h', 'x')])));
  await trial('read', () => readOne(driver, id));
  // Without an entity the others would be refused for their condition.
  if (version === '') return refusals;
  await trial('patch', () => writeOne(driver, patch(id, version, [part('h', 'y', 1)])));
  await trial('replace', () => writeOne(driver, replace(id, version, [part('h', 'z', 1)])));
  await trial('remove', () => removeOne(driver, { id, version }));
  return refusals;
}

/** Runs the checks that are recorded, whether or not they hold. */
async function recordOf(place: Place, signal: AbortSignal): Promise<Recording> {
  const exchanges: Exchange[] = [];
  const driver = place.recorded(exchanges);
  const around = { isAtomic: place.transports[0]!.isAtomic, open: () => driver };
  try {
    await brokenAmong(RECORDED, driver, around, { signal, prefixOf: recordedPrefix });
  } finally {
    await driver.close();
  }
  const { provider, isEmulator, space } = place;
  return { stowageRecording: 1, recordedAt: new Date().toISOString(), provider, isEmulator, space, exchanges };
}

/** Null if the service tells no time. Half a second is taken off, as a date has whole seconds. */
async function clockAhead(place: Place): Promise<number | null> {
  const beganMs = Date.now();
  const serviceMs = await place.serviceTimeMs().catch(() => undefined);
  if (serviceMs === undefined) return null;
  return Math.round((beganMs + Date.now()) / 2 - serviceMs - 500);
}

/** Expired records are purged by this margin (DESIGN.md, rule 21). */
const CLOCK_OFF_MS_MAX = 5 * 60_000;

function clockText(aheadMs: number | null): string[] {
  if (aheadMs === null || Math.abs(aheadMs) < CLOCK_OFF_MS_MAX) return [];
  const which = aheadMs > 0 ? 'ahead of' : 'behind';
  return [`the clock of this machine is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${which} the service's (rule 21)`];
}

function brokenTexts({ transport, refused, broken }: Seen): string[] {
  return [
    ...[...Map.groupBy(refused, ({ why }) => why)].map(([why, some]) => {
      return `${transport}: requests to ${some.map(({ kind }) => kind).join(', ')} fail: ${why}`;
    }),
    ...broken.map(({ check, why }) => `${transport}: it does not hold that ${check}: ${why}`),
  ];
}

/** From this factor on, figures of emulators say little about the account. */
const UNLIKE_FACTOR = 2;

function slowerThan(profile: SlowProfile, assumed: SlowProfile): string[] {
  return (['read', 'query', 'commit'] as const).flatMap((kind) => {
    const [ms, assumedMs] = [profile[kind].ms, assumed[kind].ms];
    const factor = ms / assumedMs;
    if (factor < UNLIKE_FACTOR && factor > 1 / UNLIKE_FACTOR) return [];
    return [`a ${kind} takes ${ms} ms in the median; the comparison's emulators take ${assumedMs} ms`];
  });
}
