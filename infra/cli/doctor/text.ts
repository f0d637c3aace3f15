// An examination for a terminal.
import { textTable, wrapped } from '../../../shared/lab/kit/figure-format.ts';
import type { Examination, Seen } from './examine.ts';

export function examinationText(examination: Examination): string {
  const { address, isEmulator, region, clockAheadMs, transports, broken, unlike, left } = examination;
  const clock = clockAheadMs === null ? 'not told' : `${clockAheadMs} ms ahead, to half a second`;
  return [
    `${address}${isEmulator ? ' (an emulator)' : ''}`,
    `  region  ${region ?? 'not told'}`,
    `  clock   ${clock}`,
    ...transports.flatMap(seenLines),
    '',
    ...list('Broken, so that the store would not work here as promised:', broken),
    ...list('Otherwise than assumed, without breaking anything:', unlike),
    ...(left === null ? [] : [`Not removed; what was written, if anything, is left in ${left}`]),
    `Verdict: ${broken.length === 0 ? 'it keeps every promise that was tried' : `${broken.length} things are broken`}.`,
  ].join('\n');
}

function seenLines({ transport, refused, checks, broken, counters, latencies, commitsPerSecond }: Seen): string[] {
  const { readCalls, writeCalls, removeCalls, listCalls } = counters;
  const requests = readCalls + writeCalls + removeCalls + listCalls;
  const rights = refused.length === 0 ? 'all kinds of requests' : `no ${refused.map(({ kind }) => kind).join(', ')}`;
  const rows = Object.entries(latencies).map(([kind, { p50Ms, p90Ms, p99Ms, maxMs }]) => [
    kind,
    ...[p50Ms, p90Ms, p99Ms, maxMs].map(String),
  ]);
  const held = refused.length === 0 ? `${checks - broken.length} of ${checks} promises hold` : 'no promise was tried';
  return [
    '',
    `Transport ${transport}: it may make ${rights}; ${held}; ${requests} requests`,
    ...(rows.length === 0 ? [] : [textTable(['milliseconds', 'p50', 'p90', 'p99', 'max'], rows, 1)]),
    ...(commitsPerSecond === null
      ? []
      : [`  One entity takes ${commitsPerSecond} commits per second, one after another`]),
  ];
}

function list(title: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  return [title, ...items.flatMap((item) => wrapped(`- ${item}`).map((line) => `  ${line}`)), ''];
}
