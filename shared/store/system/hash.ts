// Loads the hash of keys, XXH64, which is WebAssembly and compiles asynchronously.
import xxhash from 'xxhash-wasm';
import { setKeyHash } from '../format/position.ts';

let isReady = false;

/** Calls that open tables await it, as CommonJS cannot require a module that awaits. */
export async function loadHash(): Promise<void> {
  if (isReady) return;
  const hasher = await xxhash();
  setKeyHash((key) => hasher.h64Raw(key));
  isReady = true;
}
