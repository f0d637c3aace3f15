// A contest's side in a process of its own, which side-process.ts starts and gives orders.
import { afterMs } from '../../../shared/lab/load/closed-loop.ts';
import { PROCESS_CLOCKS } from '../../../shared/lab/load/spent.ts';
import type { ContestName } from './contest/goals.ts';
import { takeTurn, type Turn } from './contest/turn.ts';
import { Contestant, driverParty, ownParty, plainParty, SMALL_CACHE_BYTES } from './contest/works.ts';
import { providerOn } from '../providers.ts';
import type { SideOrder, SideReply, SideSetup } from './side-process.ts';

const { side, transport, provider, endpoint, dataset, warmUpOperations } = JSON.parse(
  process.argv[2] ?? '{}',
) as SideSetup;
const bench = providerOn(provider, { name: provider, endpoint, close: async () => {} });
const PARTIES = {
  theirs: () => plainParty(bench.baseline(), dataset),
  entities: () => driverParty(bench.driver(`entities${transport}`, transport), dataset),
  ours: () =>
    ownParty(bench.store({}, transport), bench.store({ cacheBytesMax: SMALL_CACHE_BYTES }, transport), dataset),
};
const party = await PARTIES[side]();
const contestant = new Contestant(party, dataset);
let prepared: ContestName | undefined;

process.once('disconnect', () => process.exit());
process.on('message', (order: SideOrder) => answer(() => play(order)));
answer(async () => {
  if (warmUpOperations === 0) return;
  await contestant.fill();
  await contestant.prepare();
  await contestant.warmUp(warmUpOperations);
});

function answer(work: () => Promise<Turn | void>): void {
  work().then(
    (turn) => reply({ turn: turn ?? undefined }),
    (error: unknown) => reply({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
}

function reply(message: SideReply): void {
  process.send?.(message);
}

async function play({ contest, size }: SideOrder): Promise<Turn> {
  if (prepared !== contest) await contestant.prepare();
  prepared = contest;
  return takeTurn(contestant.works[contest], size.inFlight, afterMs(size.turnMs, PROCESS_CLOCKS));
}
