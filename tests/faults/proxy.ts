// A faulty network: a TCP proxy. Each connection draws its fate when it is accepted.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listening } from '../support/listening.ts';
import type { Chance } from '../simulation/seeded-chance.ts';
import type { Events } from '../simulation/events.ts';

/** `swallowed` replies are those of requests that arrived: only the way back is cut. */
export type Fate = 'fine' | 'cut' | 'reset' | 'swallowed' | 'silent' | 'delayed' | 'slow';

const FATES: Readonly<Record<Fate, number>> = {
  fine: 50,
  cut: 10,
  reset: 10,
  swallowed: 6,
  silent: 4,
  delayed: 10,
  slow: 10,
};
/** A fate comes true at any byte of these, small numbers as often as large ones. */
const AT_BYTE_LOG2_MAX = 17;
/** Slow bytes pass in pieces, so that they never fall silent. */
const PIECE_BYTES = 8 * 1024;
const DELAY_MS_MAX = 300;
const KIB = 1024;

interface Link {
  readonly near: Socket;
  readonly far: Socket;
  fate: Fate;
  /** Bytes until the fate comes true, both ways together. */
  left: number;
  readonly delayMs: number;
  readonly lane: Lane;
}

/** Bytes pass one after the other. */
interface Lane {
  readonly bytesPerSecond: number;
  freeAtMs: number;
}

export interface ProxyOptions {
  readonly targetPort: number;
  readonly chance: Chance;
  readonly events: Events;
  /** A slow link that all connections share, and no other fate. Default: each draws its own. */
  readonly bytesPerSecond?: number;
}

export class FaultyProxy {
  /** No connection has a fate of its own any more; those there are go on as they must. */
  isCalm = false;
  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #refusesUntilMs = 0;
  #port = 0;
  readonly #shared: Lane | undefined;

  private constructor(options: ProxyOptions) {
    this.#options = options;
    const { bytesPerSecond } = options;
    this.#shared = bytesPerSecond === undefined ? undefined : { bytesPerSecond, freeAtMs: 0 };
    this.#server = createServer({ allowHalfOpen: false }, (near) => this.#accept(near));
  }

  static async before(options: ProxyOptions): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(options);
    proxy.#port = await listening(proxy.#server);
    return proxy;
  }

  get port(): number {
    return this.#port;
  }

  /** All connections there are meet this fate at their next byte. */
  disturb(fate: Fate): void {
    this.#options.events.count(`network: connections ${fate} at once`, this.#links.size);
    for (const link of this.#links) Object.assign(link, { fate, left: 0 });
  }

  /** The provider is down: each connection is reset, and so are new ones for so long. */
  refuse(ms: number): void {
    this.#options.events.count('network: provider down');
    this.#refusesUntilMs = performance.now() + ms;
    for (const { near } of this.#links) near.resetAndDestroy();
  }

  /** No faults from now on, on new connections: the old ones end. */
  calm(): void {
    this.isCalm = true;
    this.#refusesUntilMs = 0;
    for (const { near } of this.#links) near.destroy();
  }

  close(): void {
    for (const { near, far } of this.#links) [near, far].map((socket) => socket.destroy());
    this.#server.close();
  }

  #accept(near: Socket): void {
    near.on('error', () => {});
    if (performance.now() < this.#refusesUntilMs) return void near.resetAndDestroy();
    const far = connect({ host: '127.0.0.1', port: this.#options.targetPort, noDelay: true });
    near.setNoDelay(true);
    far.on('error', () => {});
    const link = this.#link(near, far);
    this.#links.add(link);
    near.on('close', () => {
      this.#links.delete(link);
      far.destroy();
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const)
      void this.#pass(link, from, to).catch(() => near.destroy());
  }

  #link(near: Socket, far: Socket): Link {
    const { chance, events } = this.#options;
    const lane = this.#shared ?? { bytesPerSecond: chance.of([200, 500, 2_000]) * KIB, freeAtMs: 0 };
    const left = Math.floor(2 ** (AT_BYTE_LOG2_MAX * chance.share()));
    const delayMs = chance.below(DELAY_MS_MAX);
    const drawn = chance.weighted(FATES);
    if (this.#shared !== undefined) return { near, far, fate: 'slow', left: 0, delayMs, lane };
    const fate = this.isCalm ? 'fine' : drawn;
    if (fate !== 'fine') events.count(`network: connection ${fate}`);
    return { near, far, fate, left, delayMs, lane };
  }

  async #pass(link: Link, from: Socket, to: Socket): Promise<void> {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES)
        await this.#passPiece(link, chunk.subarray(at, at + PIECE_BYTES), to);
    }
    // Not before all has passed, though the other side may have closed long ago.
    to.end();
  }

  async #passPiece(link: Link, piece: Buffer, to: Socket): Promise<void> {
    const { fate, near, delayMs, lane } = link;
    const passing = fate === 'fine' ? piece.length : Math.min(piece.length, link.left);
    link.left -= fate === 'fine' ? 0 : passing;
    const isTrue = fate !== 'fine' && passing < piece.length;
    if (!isTrue) return write(to, piece);
    switch (fate) {
      case 'cut':
        to.write(piece.subarray(0, passing), () => near.destroy());
        return;
      case 'reset':
        to.write(piece.subarray(0, passing), () => near.resetAndDestroy());
        return;
      case 'swallowed':
        return to === near ? undefined : write(to, piece);
      case 'silent':
        return;
      case 'delayed':
        await delay(delayMs);
        return write(to, piece);
      case 'slow':
        await turn(lane, piece.length);
        return write(to, piece);
      default:
        fate satisfies never;
    }
  }
}

async function turn(lane: Lane, bytes: number): Promise<void> {
  const nowMs = performance.now();
  lane.freeAtMs = Math.max(nowMs, lane.freeAtMs) + (1_000 * bytes) / lane.bytesPerSecond;
  await delay(lane.freeAtMs - nowMs);
}

/** Resolves when there is room for more, or when the connection has ended. */
async function write(to: Socket, bytes: Buffer): Promise<void> {
  if (to.destroyed || to.write(bytes)) return;
  await new Promise<void>((resolve) => {
    to.once('drain', resolve).once('close', resolve);
  });
}
