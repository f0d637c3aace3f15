// The rules of a search as rows: what memory has, where the search is, what each look showed, and
// the step that follows. There is no provider, no cache and no promise around it.
import { expect, test } from 'vitest';
import type { Snapshot } from '../../../shared/store/container/snapshot.ts';
import type { EntityId } from '../../../shared/store/contract/driver.ts';
import { StoreError } from '../../../shared/store/contract/errors.ts';
import { ROOT_CONTAINER } from '../../../shared/store/format/bytes.ts';
import type { Header } from '../../../shared/store/format/header.ts';
import { nodeId, rootId } from '../../../shared/store/format/entity-ids.ts';
import { newCounters } from '../../../shared/store/system/tracing.ts';
import {
  afterAstray,
  afterMiss,
  newSearchFromTheLeft,
  type Phase,
  Search,
  shown,
  type TreeStep,
} from '../../../shared/store/machine/search.ts';
import { nextTreeStep } from '../../../shared/store/machine/tree.ts';
import { hexId } from '../../support/ids.ts';
import { childId, EMPTY_LEAF, pageOfChildren, snapshotWith, TABLE, unread } from '../container/nodes.ts';

const { incarnation } = EMPTY_LEAF;
const OTHER = hexId('dddddddddddddddd');
const Q = Buffer.from('q');
const MISSING = undefined;

const idOf = (digit: string): EntityId => nodeId(TABLE, incarnation, childId(digit));

function wordOf(id: EntityId): string {
  return id === rootId(TABLE) ? 'root' : id.at(-1)!;
}

function stepOf(step: TreeStep): string {
  switch (step.kind) {
    case 'look': {
      const { id, what, forgets, mayFail } = step;
      const how = typeof what === 'string' ? what : what.length === 0 ? 'header' : `slots ${what.join()}`;
      return `${wordOf(id)} ${how}${forgets === undefined ? '' : ' anew'}${mayFail === true ? ' hint' : ''}`;
    }
    case 'named':
      return `named ${wordOf(step.id)}`;
    case 'found':
      return `found ${wordOf(step.node.id)}`;
    case 'left': {
      const { live, retired } = step.found ?? {};
      return `left ${live === undefined ? 'nothing' : wordOf(live.id)}${retired === undefined ? '' : ` then ${wordOf(retired.id)}`}`;
    }
    case 'failed':
      return step.error instanceof StoreError ? step.error.code : String(step.error);
    default:
      return step satisfies never;
  }
}

/** The steps of a search whose looks get these replies in turn. */
function steps(
  search: Search,
  memory: readonly (Snapshot | undefined)[],
  replies: readonly (Snapshot | undefined)[] = [],
  ageMs = 0,
): string[] {
  const known = new Map(memory.flatMap((node) => (node === undefined ? [] : [[node.id, node] as const])));
  const seen = { table: TABLE, counters: newCounters(), get: (id: EntityId) => known.get(id), ageMs: () => ageMs };
  const words = [stepOf(nextTreeStep(search, seen))];
  for (const reply of replies) {
    // A node that was read is in memory, a missing one no longer.
    if (reply !== undefined) known.set(reply.id, reply);
    shown(search, reply);
    words.push(stepOf(nextTreeStep(search, seen)));
  }
  return words;
}

function hintsOf({ entryRepairs }: Search): string[] {
  return entryRepairs.map(({ level, incarnation: under, separator, child, instead }) => {
    const where = level === 1 && under === incarnation ? '' : 'elsewhere ';
    return `${where}${Buffer.from(separator).toString()}${child[0]}${instead === undefined ? '' : ` for ${instead[0]}`}`;
  });
}

const sought = (until: Search['until'], phase?: Phase, level = 0): Search =>
  new Search({ position: Q, level, until }, phase);

type Bounds = readonly [low: string, high?: string, right?: string];

function leaf(digit: string, [low, high, right]: Bounds, more: Partial<Header> = {}, tick = 5): Snapshot {
  const bounds = {
    low: Buffer.from(low),
    high: high === undefined ? undefined : Buffer.from(high),
    right: right === undefined ? undefined : childId(right),
  };
  return snapshotWith({ container: childId(digit), ...bounds, ...more }, tick);
}

const retired = (digit: string, bounds: Bounds): Snapshot => leaf(digit, bounds, { state: 'retired' });
const merged = (digit: string, bounds: Bounds): Snapshot => leaf(digit, bounds, { state: 'merged' });

function root(children: Readonly<Record<string, string>>, tick = 1, more: Partial<Header> = {}, slot = 3): Snapshot {
  const pages = [pageOfChildren(slot, children)];
  return snapshotWith({ container: ROOT_CONTAINER, level: 1, pages, ...more }, tick);
}

const TWO = root({ '': '1', m: '2' });
const LONE_LEAF = snapshotWith({ container: ROOT_CONTAINER });
const TOMBSTONE = snapshotWith({ container: ROOT_CONTAINER, state: 'removing' });
const RECREATED = root({ '': '7' }, 9, { incarnation: OTHER });

test.each<[string, readonly (Snapshot | undefined)[], readonly (Snapshot | undefined)[], Search['until'], string[]]>([
  ['a branch in memory names the leaf without a look', [TWO], [], 'named', ['named 2']],
  ['a root that is a leaf is what is sought', [LONE_LEAF], [], 'named', ['named root']],
  ['a root that memory lacks is read', [], [TWO], 'named', ['root whole', 'named 2']],
  ['a missing root is a missing table', [], [MISSING], 'named', ['root whole', 'not_found']],
  ['a tombstone is a missing table, too', [TOMBSTONE], [TOMBSTONE], 'named', ['root whole', 'not_found']],
  ['the leaf that owns the position ends it', [TWO], [leaf('2', ['m'])], 'seen', ['2 sought', 'found 2']],
  // Rule 5: fences and level are checked after every read.
  [
    'a root that has grown since is gone down from',
    [LONE_LEAF],
    [TWO, leaf('2', ['m'])],
    'seen',
    ['root sought', '2 sought', 'found 2'],
  ],
  [
    'a leaf to the right of the position has the root read anew',
    [TWO],
    [leaf('2', ['r']), root({ '': '1', m: '3' })],
    'seen',
    ['2 sought', 'root whole anew', '3 sought'],
  ],
])('%s', (_, memory, replies, ...[until, expected]) => {
  expect(steps(sought(until), memory, replies)).toEqual(expected);
});

test('a search that is led astray again and again ends as corrupt', () => {
  const replies = Array.from({ length: 41 }, (_, index) => (index % 2 === 0 ? leaf('2', ['r']) : TWO));
  expect(steps(sought('seen'), [TWO], replies).indexOf('corrupt')).toBe(41);
});

/** The leaf of child 1, which now ends at `m`, with these parts of its last split. */
function overtaken(parts: Readonly<Record<string, string>> = {}): Snapshot {
  const named = Object.entries(parts).map(([low, digit]) => ({ low: Buffer.from(low), container: childId(digit) }));
  return leaf('1', ['', 'm', '2'], { lastSplit: named.length === 0 ? undefined : { parts: named, commit: 1 } }, 2);
}

const ALL = { '': '1', m: '2', p: '3' };
const NAMED = { m: '2', p: '3' };
const LATER = { commitCount: 2 };
const LONE = root({ '': '1' });
const SINCE = root({ '': '1' }, 3);
const NEARER = root({ ...ALL, pz: '5' }, 3);
const ASTRAY = root({ '': '0', o: '1' }, 3);
const TO_A_PASSED_LEAF = root({ '': '1', o: '4' }, 3);
const FULL = root(ALL, 3, LATER);
const MOVED = root(ALL, 3, LATER, 8);
const MOVED_UNREAD = { ...MOVED, header: { ...MOVED.header, pages: MOVED.header.pages.map(unread) } };
const ALIEN = root({ '': '1', p: '9' }, 3, { incarnation: OTHER });
const PASSED = leaf('4', ['']);

type Answers = readonly (Snapshot | undefined)[];
type Parts = Readonly<Record<string, string>>;

// Rules 11, 12 and 29. Hints: a separator and its child, and the child that it names wrongly.
test.each<[string, [memory: Answers, parts: Parts, replies: Answers, ageMs?: number], string[], string[]]>([
  ['a node that names the part is gone on from without a look', [[LONE], NAMED, []], ['named 3'], []],
  ['a part is gone to without a parent in memory too', [[], NAMED, []], ['named 3'], []],
  ['a parent that names a nearer child by now is believed', [[NEARER], NAMED, []], ['named 5'], []],
  ['where the node names nothing, its parent is asked', [[LONE], {}, [FULL]], ['root slots 3 hint', 'named 3'], []],
  [
    'where that page moved, the parent is read whole',
    [[LONE], {}, [MOVED_UNREAD, MOVED]],
    ['root slots 3 hint', 'root whole hint', 'named 3'],
    [],
  ],
  [
    'a parent that cannot be read leaves the right neighbour',
    [[LONE], {}, [MISSING]],
    ['root slots 3 hint', 'named 2'],
    ['m2'],
  ],
  ['a parent read since leaves that, too, and is told', [[SINCE], {}, []], ['named 2'], ['m2']],
  ['an entry that names the node itself is set anew', [[ASTRAY], {}, []], ['named 2'], ['o2 for 1', 'm2']],
  [
    'an entry for a leaf that begins further left is set anew',
    [[TO_A_PASSED_LEAF, PASSED], {}, []],
    ['named 2'],
    ['o2 for 4', 'm2'],
  ],
  ['a parent of another incarnation says nothing of the node', [[ALIEN], {}, []], ['named 2'], ['m2']],
  ['nor does it of its parts', [[ALIEN], NAMED, []], ['named 3'], []],
  [
    'after a second the parent is asked although the node names the part, and told if it lacks it',
    [[LONE], NAMED, [root({ '': '1' }, 3, LATER)], 1_001],
    ['root slots 3 hint', 'named 3'],
    ['p3'],
  ],
])('beyond a node that was split: %s', (_, [memory, parts, replies, ageMs], expected, hints) => {
  const search = sought('named', { kind: 'right', overtaken: overtaken(parts) });
  expect(steps(search, memory, replies, ageMs)).toEqual(expected);
  expect(hintsOf(search)).toEqual(hints);
});

/** Beyond the node, for a change that nodes sent on before, the rightmost of which begins there. */
function beyondBy(passed: string | undefined): string[] {
  const search = sought('named', { kind: 'right', overtaken: overtaken() });
  search.passedLows[0] = passed === undefined ? undefined : Buffer.from(passed);
  return steps(search, [FULL]);
}

test('rule 12: a change that was sent on from the node, or from beyond it, follows links', () => {
  expect([beyondBy(undefined), beyondBy(''), beyondBy('n')]).toEqual([['named 3'], ['named 2'], ['named 2']]);
});

test('rule 12: a hint that leads back to a leaf that was passed leads nowhere twice', () => {
  const search = sought('seen');
  const replies = [overtaken(), leaf('2', ['m', 'o', '3']), overtaken()];
  expect(steps(search, [root({ '': '1', p: '1' }, 9)], replies).at(-1)).toBe('2 sought');
});

test('of a branch the page that names the child is read with those that memory lacks, and no other', () => {
  const pages = [pageOfChildren(3, { '': '1', f: '2' }), pageOfChildren(6, { m: '3' }), pageOfChildren(9, { t: '4' })];
  const stored = snapshotWith({ container: ROOT_CONTAINER, level: 1, pages });
  const partly = pages.map((page, index) => (index === 0 ? page : unread(page)));
  const remembered = { ...stored, header: { ...stored.header, pages: partly } };
  expect(steps(sought('named'), [remembered], [stored])).toEqual(['root slots 6,9', 'named 3']);
});

test('a branch is read whole if its page has another slot by now', () => {
  const remembered = { ...LONE, header: { ...LONE.header, pages: LONE.header.pages.map(unread) } };
  expect(steps(sought('named'), [remembered], [MOVED_UNREAD, MOVED])).toEqual([
    'root slots 3',
    'root whole',
    'named 3',
  ]);
});

const DEEP = snapshotWith({ container: ROOT_CONTAINER, level: 2, pages: [pageOfChildren(3, { '': '8', t: '9' })] });
const branch = (digit: string, bounds: Bounds, children: Readonly<Record<string, string>>): Snapshot =>
  leaf(digit, bounds, { level: 1, pages: [pageOfChildren(4, children)] });
const B8 = branch('8', ['', 't', '9'], { '': '1', m: '2' });

test.each<[string, Search, Answers, Answers, string[]]>([
  [
    'a missing branch is sought from a root read anew',
    sought('named'),
    [DEEP],
    [MISSING, DEEP, B8],
    ['8 whole', 'root whole anew', '8 whole', 'named 2'],
  ],
  [
    'a branch missed again under the same root is damage',
    sought('named'),
    [DEEP],
    [MISSING, DEEP, MISSING, DEEP],
    ['8 whole', 'root whole anew', '8 whole', 'root whole anew', 'corrupt'],
  ],
  [
    'a branch missed under a root created again is no damage',
    sought('named'),
    [DEEP],
    [MISSING, DEEP, MISSING, RECREATED],
    ['8 whole', 'root whole anew', '8 whole', 'root whole anew', 'named 7'],
  ],
  [
    'a branch missed under a root of fewer levels is no damage',
    sought('named'),
    [DEEP],
    [MISSING, LONE_LEAF],
    ['8 whole', 'root whole anew', 'named root'],
  ],
  [
    'a branch missed in a dropped table is no damage',
    sought('named'),
    [DEEP],
    [MISSING, TOMBSTONE],
    ['8 whole', 'root whole anew', 'not_found'],
  ],
  [
    'a root that is missing beside its nodes is damage',
    sought('named'),
    [DEEP],
    [MISSING, MISSING],
    ['8 whole', 'root whole anew', 'corrupt'],
  ],
  [
    'a branch that is sought and was missed before is damage',
    sought('root', afterMiss(idOf('8'), incarnation, true), 1),
    [DEEP],
    [DEEP],
    ['root whole anew', 'corrupt'],
  ],
  [
    'a branch that is missed for the first time is no damage',
    sought('root', afterMiss(idOf('8'), incarnation, false), 1),
    [DEEP],
    [DEEP],
    ['root whole anew', 'found root'],
  ],
  [
    'after fences that led astray the root is read anew',
    sought('root', afterAstray(leaf('2', ['r']), 0, TABLE)),
    [TWO],
    [TWO],
    ['root whole anew', 'found root'],
  ],
  ['a root that only grew is right', sought('root', afterAstray(TWO, 0, TABLE)), [TWO], [], ['found root']],
])('rule 15: %s', (_, search, memory, ...[replies, expected]) => {
  expect(steps(search, memory, replies)).toEqual(expected);
});

const L1 = leaf('1', ['']);
const L1_TO_2 = leaf('1', ['', 'm', '2']);
const R2 = retired('2', ['m']);
const R2_TO_3 = retired('2', ['m', 'p', '3']);
const R3 = retired('3', ['p']);
const LOWS = ['', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'm'];
const MANY = root(Object.fromEntries(LOWS.map((low, index) => [low, (index + 1).toString(16)])));

const writer = (gone: Snapshot | undefined, digit = '2'): Search =>
  sought('left', { kind: 'left', id: idOf(digit), incarnation, gone });

test.each<[string, Search, Answers, Answers, string[], hints?: string[]]>([
  [
    'a missing leaf is looked for to its left',
    sought('seen'),
    [TWO],
    [MISSING, TWO, TWO, L1, L1],
    ['2 sought', 'root whole anew', 'root whole', '1 header', '1 sought', 'found 1'],
    ['m1 for 2'],
  ],
  [
    'a stripped leaf is looked for to its left',
    sought('seen'),
    [TWO],
    [merged('2', ['m']), TWO, L1, L1],
    ['2 sought', 'root whole', '1 header', '1 sought', 'found 1'],
    ['m1 for 2'],
  ],
  [
    '(b) a retired leaf counts where a live one leads to it',
    sought('seen'),
    [TWO],
    [R2, TWO, L1_TO_2, R2, R2],
    ['2 sought', 'root whole', '1 header', '2 header', '2 sought', 'found 2'],
  ],
  [
    '(b) a second retired leaf counts where the first leads to it',
    sought('seen'),
    [TWO],
    [R2_TO_3, TWO, L1_TO_2, R2_TO_3, R3, R3],
    ['2 sought', 'root whole', '1 header', '2 header', '3 header', '3 sought', 'found 3'],
  ],
  [
    'a reader whose owner was absorbed meanwhile goes on from the live leaf',
    sought('seen'),
    [TWO],
    [R2, TWO, L1_TO_2, R2, merged('2', ['m']), L1],
    ['2 sought', 'root whole', '1 header', '2 header', '2 sought', '1 sought', 'found 1'],
  ],
  [
    '(a) a missing leaf behind a retired one is damage',
    sought('seen'),
    [TWO],
    [R2_TO_3, TWO, L1_TO_2, R2_TO_3, MISSING, L1_TO_2, TWO],
    ['2 sought', 'root whole', '1 header', '2 header', '3 header', '1 header', 'root whole anew', 'corrupt'],
  ],
  [
    '(d) a writer stops at the first retired leaf',
    writer(R2_TO_3),
    [TWO],
    [TWO, L1_TO_2, R2_TO_3],
    ['root whole', '1 header', '2 header', 'left 1 then 2'],
  ],
  [
    '(d) a writer goes on at the live leaf where none is retired',
    writer(merged('2', ['m'])),
    [TWO],
    [TWO, L1],
    ['root whole', '1 header', 'left 1'],
    ['m1 for 2'],
  ],
  [
    '(a) a link to a missing leaf is damage if the live leaf still has it',
    writer(R2),
    [TWO],
    [TWO, L1_TO_2, MISSING, L1_TO_2, TWO],
    ['root whole', '1 header', '2 header', '1 header', 'root whole anew', 'corrupt'],
  ],
  [
    '(a) a link to a stripped leaf is damage if the live leaf still has it',
    writer(R2),
    [TWO],
    [TWO, L1_TO_2, merged('2', ['m']), L1_TO_2, TWO],
    ['root whole', '1 header', '2 header', '1 header', 'root whole anew', 'corrupt'],
  ],
  [
    '(a) a missing leaf is no damage if the live leaf links another by now',
    writer(R2),
    [TWO],
    [TWO, L1_TO_2, MISSING, L1],
    ['root whole', '1 header', '2 header', '1 header', 'left 1'],
    ['m1 for 2'],
  ],
  [
    '(a) a missing leaf is no damage if the table was dropped',
    writer(R2),
    [TWO],
    [TWO, L1_TO_2, MISSING, L1_TO_2, TOMBSTONE],
    ['root whole', '1 header', '2 header', '1 header', 'root whole anew', 'not_found'],
  ],
  [
    '(a) a writer begins anew if the table was created again',
    writer(R2),
    [TWO],
    [TWO, L1_TO_2, MISSING, L1_TO_2, RECREATED, RECREATED],
    ['root whole', '1 header', '2 header', '1 header', 'root whole anew', 'root whole', 'left nothing'],
  ],
  ['(a) a reader does, too', sought('seen'), [TWO], [R2, RECREATED], ['2 sought', 'root whole', '7 sought']],
  [
    '(a) a live leaf that retired meanwhile is begun before',
    writer(R2),
    [TWO],
    [TWO, L1_TO_2, MISSING, retired('1', ['', 'm', '2']), TWO],
    ['root whole', '1 header', '2 header', '1 header', 'root whole', '1 header'],
  ],
  [
    '(c) each step back is twice as far',
    writer(merged('c', ['m']), 'c'),
    [MANY],
    [MANY, merged('b', ['k']), MANY, MISSING, MANY, merged('6', ['f']), MANY, L1],
    ['root whole', 'b header', 'root whole', '9 header', 'root whole', '6 header', 'root whole', '1 header', 'left 1'],
    ['m1 for c'],
  ],
  [
    '(c) a leftmost leaf that is missed twice is damage',
    writer(R2),
    [TWO],
    [TWO, MISSING, TWO, TWO, MISSING, TWO],
    ['root whole', '1 header', 'root whole anew', 'root whole', '1 header', 'root whole anew', 'corrupt'],
  ],
  [
    '(c) branches are read past memory, and those to the left of the bound lead right',
    writer(merged('5', ['v']), '5'),
    [DEEP, B8],
    [DEEP, branch('9', ['t', 'u', '7'], { t: '3' }), branch('7', ['u'], { u: '4' }), leaf('4', ['u'])],
    ['root whole', '9 intact', '7 intact', '4 header', 'left 4'],
  ],
  [
    '(c) a branch that is missed twice is damage',
    writer(R2),
    [DEEP],
    [DEEP, MISSING, DEEP, DEEP, MISSING, DEEP],
    ['root whole', '8 intact', 'root whole anew', 'root whole', '8 intact', 'root whole anew', 'corrupt'],
  ],
  [
    'vacuum looks past every cache',
    newSearchFromTheLeft(incarnation, Q),
    [TWO],
    [TWO, leaf('2', ['m'])],
    ['root whole', '2 header', 'left 2'],
  ],
])('rule 28: %s', (_, search, memory, ...[replies, expected, hints = []]) => {
  expect(steps(search, memory, replies)).toEqual(expected);
  expect(hintsOf(search)).toEqual(hints);
});

function hintsAfter(memory: Answers, replies: Answers): string[] {
  const search = writer(merged('2', ['m']));
  steps(search, memory, replies);
  return hintsOf(search);
}

test('rule 29: an entry that led astray is set to the live leaf that owns its separator, or one is made', () => {
  const [before, behind] = [leaf('1', ['', 'n', '3']), leaf('3', ['n'])];
  expect(hintsAfter([TWO], [TWO, L1])).toEqual(['m1 for 2']);
  expect(hintsAfter([TWO], [TWO, before, behind])).toEqual(['n3']);
  expect(hintsAfter([root({ '': '1', m: '4' })], [TWO, L1])).toEqual([]);
  // Its content is still to be absorbed.
  expect(hintsAfter([TWO], [TWO, L1_TO_2, R2])).toEqual([]);
});

test('a search does not follow leaves that merge on and on for ever', () => {
  const cycle = [TWO, L1_TO_2, MISSING, retired('1', ['', 'm', '2'])];
  const replies = Array.from({ length: 400 }, (_, index) => cycle[index % 4]);
  expect(steps(writer(R2), [TWO], replies).at(-1)).toBe('unavailable');
});
