// A thread that compresses the pages of large commits, so that a process with a second processor goes on meanwhile: compression is a third
// of what a bulk write costs. Smaller commits are done on the spot.
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Compression, Compressor } from '../contract/runtime.ts';
import { CHUNK_BYTES_LEAST, compressHere, METHODS, smallerOf } from '../format/compression.ts';

/** Commits of fewer pages are compressed on the spot, in some 5 ms at most: single puts would wait longer than that for the thread. */
const PAGES_LEAST = 64;
/** While so many commits wait for the thread, further ones are compressed on the spot. */
const BACKLOG_MAX = 8;
/** A thread that was asked to end first does the work that it has, a fraction of a second. One that needs longer is left to itself. */
const END_MS = 2_000;

/** The thread's source, as text: a bundle has no file for it. Bodies travel in one buffer, end to end, which is transferred and not copied. */
const SOURCE = `
  const { parentPort } = require('node:worker_threads');
  const zlib = require('node:zlib');
  const joined = (pieces) => {
    const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let end = 0;
    for (const piece of pieces) { all.set(piece, end); end += piece.length; }
    return all.buffer;
  };
  parentPort.on('message', (work) => {
    if (work === null) return parentPort.close();
    const { id, method, buffer, lengths } = work;
    let begin = 0;
    const pieces = lengths.map((length) => {
      const raw = new Uint8Array(buffer, begin, length);
      begin += length;
      const chunkSize = Math.max(${CHUNK_BYTES_LEAST}, length);
      return zlib[method.name](raw, { ...method.options, chunkSize });
    });
    const reply = joined(pieces);
    parentPort.postMessage({ id, buffer: reply, lengths: pieces.map(({ length }) => length) }, [reply]);
  });
`;

interface Reply {
  readonly id: number;
  readonly buffer: ArrayBuffer;
  readonly lengths: readonly number[];
}

type Pieces = readonly Uint8Array[] | undefined;

/**
 * Starts its thread with the first large commit, and compresses that one on the spot. A thread that failed or was closed is not started again.
 *
 * Nothing terminates the thread: it is asked to end. Node.js aborts the whole process if a thread is stopped between the two steps in which it
 * makes a stream of zlib (`CompressionStream::Close` in src/node_zlib.cc, v24: "close before init").
 */
export class CompressionThread implements Compressor {
  readonly #waiting = new Map<number, (pieces: Pieces) => void>();
  #worker: Worker | undefined;
  #ended: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isOnline = false;
  #isOver = false;
  #nextId = 0;

  compress(bodies: readonly Uint8Array[], compression: Compression): ReturnType<Compressor['compress']> {
    if (compression === 'none' || bodies.length < PAGES_LEAST || !this.#isFree())
      return compressHere(bodies, compression);
    return this.#send(bodies, METHODS[compression]).then((pieces) =>
      pieces?.map((piece, index) => smallerOf(bodies[index]!, piece, compression)),
    );
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#end();
    this.#worker?.postMessage(null);
    // A process that ends stops its threads wherever they are: it goes on until this one is over, unless the thread hangs.
    this.#worker?.ref();
    await Promise.race([this.#ended, delay(END_MS, undefined, { ref: false })]);
    this.#worker?.unref();
  }

  #isFree(): boolean {
    if (!this.#isOver && this.#worker === undefined) this.#start();
    return this.#isOnline && this.#waiting.size < BACKLOG_MAX;
  }

  /** A process that may not start a thread does without. */
  #start(): void {
    try {
      // Flags of the process, such as --input-type, would apply to the thread's source too.
      const worker = new Worker(SOURCE, { eval: true, execArgv: [], name: 'stowage compression' });
      worker.unref();
      worker.once('online', () => (this.#isOnline = !this.#isOver));
      worker.on('message', (reply: Reply) => this.#receive(reply));
      for (const end of ['error', 'messageerror', 'exit']) worker.on(end, () => void this.close());
      this.#ended = new Promise((resolve) => worker.once('exit', () => resolve()));
      this.#worker = worker;
    } catch {
      this.#end();
    }
  }

  #send(bodies: readonly Uint8Array[], method: (typeof METHODS)[keyof typeof METHODS]): Promise<Pieces> {
    const { promise, resolve } = Promise.withResolvers<Pieces>();
    const lengths = bodies.map(({ length }) => length);
    const { buffer } = joined(bodies);
    const id = this.#nextId++;
    this.#waiting.set(id, resolve);
    // While somebody waits for it, it keeps the process alive.
    this.#worker?.ref();
    this.#worker?.postMessage({ id, method, buffer, lengths }, [buffer]);
    return promise;
  }

  #receive({ id, buffer, lengths }: Reply): void {
    if (this.#isOver) return;
    let begin = 0;
    const pieces = lengths.map((length) => {
      const piece = new Uint8Array(buffer, begin, length);
      begin += length;
      return piece;
    });
    this.#waiting.get(id)?.(pieces);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker?.unref();
  }

  #end(): void {
    this.#isOver = true;
    this.#isOnline = false;
    for (const resolve of this.#waiting.values()) resolve(undefined);
    this.#waiting.clear();
  }
}

/** End to end in a buffer of their own, which can be transferred. */
function joined(bodies: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(bodies.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const body of bodies) {
    all.set(body, end);
    end += body.length;
  }
  return all;
}
