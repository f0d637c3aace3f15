// Packages without types, as far as the adapters' tests call them.
declare module 'abstract-level/test' {
  import type { AbstractDatabaseOptions, AbstractLevel } from 'abstract-level';

  export default function suite(options: {
    readonly test: unknown;
    readonly factory: (options?: AbstractDatabaseOptions<string, string>) => AbstractLevel<Uint8Array>;
  }): void;
}

declare module 'tape' {
  interface Harness {
    createStream(options: { objectMode: true }): NodeJS.ReadableStream;
    onFinish(finished: () => void): void;
  }

  const tape: { createHarness(options: { autoclose: boolean }): Harness };
  export default tape;
}
