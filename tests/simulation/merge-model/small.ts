// The configurations to exhaust. Each aims at one case, and is small enough for all its histories.
import { type Small } from './exhaust.ts';

const LOWS = { lows: [0, 1, 2], end: 3 };
const [COLD, WARM] = [{}, { remembers: true }];

export const SMALL: readonly Small[] = [
  {
    name: 'a put and a get while their leaf is merged and stripped',
    start: { ...LOWS, processes: [WARM, COLD, COLD] },
    scripts: [
      [{ kind: 'put', key: 1, value: 'a' }],
      [
        { kind: 'merge', low: 1 },
        { kind: 'strip', id: 'B' },
      ],
      [{ kind: 'get', key: 1 }],
    ],
  },
  {
    name: 'a put that meets one fault while its leaf is merged, stripped and removed',
    start: { ...LOWS, processes: [WARM, COLD] },
    scripts: [
      [{ kind: 'put', key: 1, value: 'a' }],
      [
        { kind: 'merge', low: 1 },
        { kind: 'strip', id: 'B' },
      ],
    ],
    faults: ['reply lost', 'false refusal', 'refusal for nothing', 'late', 'doubled', 'give up'],
    faultsMax: 1,
    expires: true,
  },
  {
    name: 'gets that links lead to a leaf while it is merged and stripped',
    start: { ...LOWS, unnamed: [1], processes: [COLD, COLD] },
    scripts: [
      [{ kind: 'get', key: 1 }],
      [
        { kind: 'merge', low: 1 },
        { kind: 'strip', id: 'B' },
      ],
    ],
    expires: true,
  },
  {
    name: 'two neighbours are retired together, a put and gets go on',
    start: { ...LOWS, processes: [COLD, COLD, COLD, WARM] },
    scripts: [
      [{ kind: 'merge', low: 1 }],
      [{ kind: 'merge', low: 2 }],
      [{ kind: 'get', key: 2 }],
      [{ kind: 'put', key: 2, value: 'a' }],
    ],
  },
  {
    name: 'a frozen link to a leaf that is gone',
    start: { ...LOWS, unnamed: [2], processes: [COLD, COLD] },
    scripts: [
      [{ kind: 'get', key: 2 }],
      [
        { kind: 'merge', low: 1 },
        { kind: 'merge', low: 2 },
        { kind: 'strip', id: 'C' },
      ],
    ],
    expires: true,
  },
  {
    name: 'two copies of one retired leaf, of which vacuum removes one',
    start: { ...LOWS, processes: [{ copies: true }, { copies: true, remembers: true }, COLD] },
    scripts: [
      [{ kind: 'merge', low: 1 }],
      [{ kind: 'put', key: 1, value: 'a' }],
      [
        { kind: 'vacuum', id: 'p2' },
        { kind: 'vacuum', id: 'q2' },
      ],
    ],
  },
  {
    name: 'a copy whose insert meets a fault, with vacuum at work',
    start: { ...LOWS, processes: [{ copies: true }, WARM, COLD] },
    scripts: [[{ kind: 'merge', low: 1 }], [{ kind: 'get', key: 1 }], [{ kind: 'vacuum', id: 'p2' }]],
    faults: ['reply lost', 'false refusal', 'late', 'doubled', 'crash'],
    faultsMax: 1,
  },
  {
    name: 'a split and a merge of the same leaf, and a put',
    start: { lows: [0, 1, 3], end: 4, processes: [WARM, COLD, WARM] },
    scripts: [[{ kind: 'split', at: 2 }], [{ kind: 'merge', low: 1 }], [{ kind: 'put', key: 2, value: 'a' }]],
    faults: ['reply lost', 'late', 'crash'],
    faultsMax: 1,
  },
  {
    name: 'a put that goes along with the absorb, and two faults',
    start: { ...LOWS, processes: [{ carries: true }, COLD] },
    scripts: [[{ kind: 'put', key: 1, value: 'a' }], [{ kind: 'merge', low: 1 }]],
    faults: ['reply lost', 'false refusal', 'late', 'crash'],
    faultsMax: 2,
  },
  {
    name: 'a split whose new leaf vacuum takes for an orphan',
    start: { lows: [0, 2], end: 4, processes: [WARM, COLD] },
    scripts: [
      [{ kind: 'split', at: 1 }],
      [
        { kind: 'vacuum', id: 'p1' },
        { kind: 'vacuum', id: 'p1' },
      ],
    ],
    faults: ['reply lost', 'false refusal', 'late', 'doubled', 'give up', 'crash'],
    faultsMax: 1,
  },
  {
    name: 'a leaf that was inserted twice is split off, merged and stripped',
    start: { lows: [0], end: 2, processes: [WARM, COLD] },
    scripts: [
      [
        { kind: 'split', at: 1 },
        { kind: 'merge', low: 1 },
        { kind: 'strip', id: 'p1' },
      ],
      [{ kind: 'get', key: 1 }],
    ],
    faults: ['reply lost', 'late', 'doubled'],
    faultsMax: 1,
  },
  {
    name: 'repairs that arrive late, or never',
    start: { ...LOWS, processes: [WARM, COLD, COLD] },
    scripts: [
      [
        { kind: 'put', key: 1, value: 'a' },
        { kind: 'get', key: 1 },
      ],
      [
        { kind: 'merge', low: 1 },
        { kind: 'split', at: 1 },
      ],
      [{ kind: 'drop entries' }],
    ],
    repairs: true,
  },
];
