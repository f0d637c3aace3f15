// The interface of every emulator.

/** An emulator that is ready, on 127.0.0.1. */
export interface Emulator {
  /** For people: name and kind. */
  readonly name: string;
  /** `http://127.0.0.1:port` of the service, for Azurite with the account's path. */
  readonly endpoint: string;
  /** Of one in a process of its own: resolves when that process has ended, however it did. */
  readonly exited?: Promise<unknown>;
  /** Ends the emulator and waits for its end. Idempotent. An emulator that was running before stays. */
  close(): Promise<void>;
}
