// The interface of every emulator.

/** An emulator that is ready, on 127.0.0.1. */
export interface Emulator {
  /** Name and kind, for people. */
  readonly name: string;
  /** `http://127.0.0.1:port` of the service, for Azurite with the account's path. */
  readonly endpoint: string;
  /** Of a process of its own whose first thread does the work; else undefined. */
  readonly processId?: string | undefined;
  /** Resolves when the emulator's own process, if it has one, has ended. */
  readonly exited?: Promise<unknown>;
  /** Waits for its end. Idempotent. An emulator that was running before stays. */
  close(): Promise<void>;
}
