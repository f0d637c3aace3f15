// A contest's side in a process of its own, so that the processor time it counts is that of one client alone. Started by side-process.ts, from
// which it gets its orders; it ends with it.
import { afterMs } from '../../../shared/lab/load/closed-loop.ts';
import { PROCESS_CLOCKS } from '../../../shared/lab/load/spent.ts';
import type { ContestName } from './contest/goals.ts';
import { takeTurn, type Turn } from './contest/turn.ts';
import { Contestant, ownParty, plainParty, SMALL_CACHE_BYTES } from './contest/works.ts';
import { providerOn } from './providers.ts';
import type { SideOrder, SideReply, SideSetup } from './side-process.ts';

const { side, provider, endpoint, dataset } = JSON.parse(process.argv[2] ?? '{}') as SideSetup;
const bench = providerOn(provider, { name: provider, endpoint, close: async () => {} });
const party =
  side === 'theirs'
    ? await plainParty(bench.baseline(), dataset)
    : await ownParty(bench.store(), bench.store({ cacheBytesMax: SMALL_CACHE_BYTES }), dataset);
const contestant = new Contestant(party, dataset);
let prepared: ContestName | 'warm up' | undefined;

process.once('disconnect', () => process.exit());
process.on('message', (order: SideOrder) => {
  carryOut(order).then(
    (turn) => reply({ turn }),
    (error: unknown) => reply({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
reply({ turn: null });

function reply(message: SideReply): void {
  process.send?.(message);
}

async function carryOut(order: SideOrder): Promise<Turn | null> {
  if (order.kind === 'fill') return await contestant.fill().then(() => null);
  const next = order.kind === 'turn' ? order.contest : order.kind;
  if (prepared !== next) await contestant.prepare();
  prepared = next;
  if (order.kind === 'warm up') return await contestant.warmUp(order.operations).then(() => null);
  const { inFlight, turnMs } = order.size;
  return takeTurn(contestant.works[order.contest], inFlight, afterMs(turnMs, PROCESS_CLOCKS));
}
