// What still holds of document B.
import type { Finding, FigureTable } from '../../results.ts';
import { ratiosOf, ratiosText, ratioText, spread, verdictOf } from '../../words.ts';

const RATES = ['azure-tables-rate', 'datastore-rate'];
const ON_AZURE = ['azure-tables-rate'];
/** A setting that changes less than this is lost in the runs' spread. */
const NOTICEABLE = 0.1;

export function findingsOf(rates: FigureTable, spent: FigureTable): Finding[] {
  return [groups(rates), settings(rates), parallel(rates), everything(rates), store(rates, spent)];
}

function groups(rates: FigureTable): Finding {
  const gains = ratiosOf(rates, 'single', RATES).map((ratio) => 1 / ratio);
  return {
    verdict: verdictOf(gains, (gain) => gain > 2),
    text: `Groups of 100 are what counts: single writes reached ${thenOf(rates, 'single')} of their rate then, and ${ratiosText(rates, 'single', RATES)} now, with no distance to save.`,
  };
}

function settings(rates: FigureTable): Finding {
  const rows = ['connections', 'expect', 'nagle'] as const;
  const text = rows
    .map((row) => `${NAMES[row]} ${ratioText(rates, row, 'azure-tables-rate')} (then ${thenOf(rates, row)})`)
    .join(', ');
  const ratios = rows.flatMap((row) => ratiosOf(rates, row, ON_AZURE));
  const changes = ratios.some((ratio) => Math.abs(ratio - 1) > NOTICEABLE);
  return {
    verdict: ratios.length === 0 || changes ? 'open' : 'holds',
    text: `Connection settings alone change next to nothing while one batch follows the other: of the baseline's rate, ${text}. The baseline's own runs gave ${spread(figureIn(rates, 'baseline'))} entities a second. On loopback a difference is processor time, not a network's.`,
  };
}

const NAMES = { connections: '48 connections', expect: 'Expect off', nagle: 'Nagle off' } as const;

function thenOf(rates: FigureTable, row: string): string {
  return ratioText(rates, row, 'then-rate');
}

function figureIn(rates: FigureTable, row: string) {
  return rates.rows.find(({ id }) => id === row)?.figures['azure-tables-rate'];
}

function parallel(rates: FigureTable): Finding {
  return {
    verdict: gainOf(ratiosOf(rates, 'parallel', RATES)),
    text: `Batches in parallel gained a factor of ${thenOf(rates, 'parallel')} then, now one of ${ratiosText(rates, 'parallel', RATES)}, where client and emulator share two processors.`,
  };
}

/** Without distance there is little to gain: that nothing was gained says nothing of the service. */
function gainOf(ratios: readonly number[]): Finding['verdict'] {
  return ratios.length > 0 && ratios.every((ratio) => ratio > 1 + NOTICEABLE) ? 'holds' : 'open';
}

function everything(rates: FigureTable): Finding {
  return {
    verdict: gainOf(ratiosOf(rates, 'everything', ON_AZURE)),
    text: `Everything together reached ${thenOf(rates, 'everything')} times the baseline's rate then, now ${ratiosText(rates, 'everything', RATES)}. The SDK's own connections with 48 batches at a time reach ${ratiosText(rates, 'sdk-parallel', ON_AZURE)}.`,
  };
}

function store(rates: FigureTable, spent: FigureTable): Finding {
  const requests = ['azure-tables-requests', 'datastore-requests'];
  return {
    verdict: verdictOf(ratiosOf(rates, 'store-whole', RATES), (ratio) => ratio > 1),
    text: `Packed into containers, one putMany of all has ${ratiosText(rates, 'store-whole', RATES)} times the baseline's rate, with ${ratiosText(spent, 'store-whole', requests)} of its requests.`,
  };
}
