// A network before an emulator that is never late, and on which requests fail as a test says.
import type { Sent } from '../../infra/emulators/azurite-front/front.ts';

type Seen = Pick<Sent, 'kind'> & Partial<Sent>;

/** Nothing happens, and the request is refused so; or everything does, and the reply is lost. */
interface Failure<Refusal> {
  readonly refusal?: Refusal;
  readonly isReplyLost?: boolean;
}

interface Extent {
  /** How many requests fail so. Default: all, until the network is calm. */
  readonly times?: number;
  /** Which ones do. Default: any. */
  readonly meets?: (sent: Seen) => boolean;
}

export function failingNetwork<Refusal>() {
  const failures = new Map<Failure<Refusal>, Required<Extent>>();
  let hits = 0;
  return {
    fail: (failure: Failure<Refusal>, { times = Infinity, meets = () => true }: Extent = {}): void =>
      void failures.set(failure, { times, meets }),
    /** No request fails any more. */
    calm: (): void => failures.clear(),
    /** Requests that have failed. */
    hits: (): number => hits,
    async arrive(sent: Seen) {
      const [met] = [...failures].filter(([, { meets }]) => meets(sent));
      if (met !== undefined) {
        const [failure, { times, meets }] = met;
        hits += 1;
        if (times > 1) failures.set(failure, { times: times - 1, meets });
        else failures.delete(failure);
      }
      return { isThrottled: false, ...met?.[0], reply: async () => {} };
    },
  };
}
