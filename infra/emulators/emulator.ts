// What every emulator looks like to its callers.

/** An emulator that is ready, on 127.0.0.1. */
export interface Emulator {
  /** For people: name and kind. */
  readonly name: string;
  /** `http://127.0.0.1:port` of the service, for Azurite with the account's path. */
  readonly endpoint: string;
  /** Ends it and waits for its end. Idempotent; does nothing to an emulator that was running before. */
  close(): Promise<void>;
}
