// An account or emulator under examination.
import type { Around } from '../../../shared/drivers/conformance/check-calls.ts';
import type { SlowProfile } from '../../../shared/drivers/slow/profiles.ts';
import type { Driver } from '../../../shared/store/index.ts';

/** The drivers' own requests, or the cloud's own client. */
export type TransportName = 'own' | 'sdk';

/** One request and its reply. Requests compare as text. */
export interface Exchange {
  readonly request: string;
  readonly reply: string;
}

export interface Transport extends Around {
  readonly name: TransportName;
  open(): Driver;
}

/** One account. The examination works in a table or kind of its own. */
export interface Place {
  readonly provider: 'datastore' | 'azure-tables';
  /** As it was given; it holds no secret. */
  readonly address: string;
  readonly isEmulator: boolean;
  /** The table or kind. */
  readonly name: string;
  readonly transports: readonly Transport[];
  /** How the comparison's emulators imitate this service. */
  readonly assumed: SlowProfile;
  /** Opens a driver over the own transport, whose requests and replies the recording keeps. */
  recorded(recording: Exchange[]): Driver;
  /** What a driver must be opened with to send the same requests again. */
  readonly space: Readonly<Record<string, string>>;
  /** The service's time by the header Date of a reply; undefined if it tells none. */
  serviceTimeMs(): Promise<number | undefined>;
  /** Undefined if it is not known. */
  region(): Promise<string | undefined>;
  /** Removes the table, or all entities of the kind. */
  remove(): Promise<void>;
  /** The text without the credentials that were used. */
  withoutSecrets(text: string): string;
}
