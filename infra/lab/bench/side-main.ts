// A contest's side in a process of its own, so that the processor time it counts is that of one client alone. Started by side-process.ts, from
// which it gets its orders; it ends with it.
import type { SideOrder, SideReply, SideSetup } from './side-process.ts';
import { type Contestant, ownContestant, plainContestant, SMALL_CACHE_BYTES } from './contest/sides.ts';
import { type ContestName } from './contest/goals.ts';
import { partsOf } from './contest/parts.ts';
import { MACHINE_CLOCKS, takeTurn } from './contest/turn.ts';
import { azureOn, type BenchProvider, datastoreOn } from './providers.ts';

const WARM_UP_IN_FLIGHT = [1, 32];

const setup = JSON.parse(process.argv[2] ?? '{}') as SideSetup;
const emulator = { name: setup.provider, endpoint: setup.endpoint, close: async () => {} };
const contestant = await open(setup.provider === 'datastore' ? datastoreOn(emulator) : azureOn(emulator));
let prepared: ContestName | undefined;

process.once('disconnect', () => process.exit());
process.on('message', (order: SideOrder) => {
  carryOut(order).then(reply, (error: unknown) =>
    reply({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
reply({ ready: true });

function reply(message: SideReply): void {
  process.send?.(message);
}

function open(bench: BenchProvider): Promise<Contestant> {
  if (setup.side === 'theirs') return plainContestant(bench.baseline(), setup.dataset);
  return ownContestant(bench.store(), bench.store({ cacheBytesMax: SMALL_CACHE_BYTES }), setup.dataset);
}

async function carryOut(order: SideOrder): Promise<SideReply> {
  if ('contest' in order) return play(order);
  await (order.kind === 'fill' ? contestant.fill() : warmUp(order.operations));
  return { ready: true };
}

async function play({ kind, contest, size }: Extract<SideOrder, { kind: 'turn' | 'parts' }>): Promise<SideReply> {
  if (prepared !== contest) await contestant.prepare();
  prepared = contest;
  const turn = () => takeTurn(contestant.works[contest], size, MACHINE_CLOCKS);
  if (kind === 'turn') return { turn: await turn() };
  return { parts: await partsOf(async () => void (await turn())) };
}

/**
 * So many puts and gets, alone and in company: a driver that sees few requests, because callers share them, is not compiled by these alone. And
 * Google's emulator, in Java, is several times slower for its first ten thousand operations.
 */
async function warmUp(operations: number): Promise<void> {
  await contestant.prepare();
  for (const contest of ['put', 'get'] as const) {
    for (const inFlight of WARM_UP_IN_FLIGHT) {
      let left = operations;
      const caller = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await contestant.works[contest]();
        }
      };
      await Promise.all(Array.from({ length: inFlight }, caller));
    }
  }
}
