// A module without types, as far as the adapters' tests call it.
declare module 'abstract-level/test' {
  import type { AbstractDatabaseOptions, AbstractLevel } from 'abstract-level';

  export default function suite(options: {
    readonly test: unknown;
    readonly factory: (options?: AbstractDatabaseOptions<string, string>) => AbstractLevel<Uint8Array>;
  }): void;
}
