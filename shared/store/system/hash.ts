// Loads the hash of keys, XXH64, which comes as WebAssembly and is compiled asynchronously, and hands it to the positions.
import xxhash from 'xxhash-wasm';
import { setKeyHash } from '../format/position.ts';

let isReady = false;

/**
 * Makes positions of order `hash` possible, in the whole process; at once where that is done already. Awaited by the calls that open tables,
 * not while modules load: CommonJS cannot require a module that awaits then.
 */
export async function loadHash(): Promise<void> {
  if (isReady) return;
  const hasher = await xxhash();
  setKeyHash((key) => hasher.h64Raw(key));
  isReady = true;
}
