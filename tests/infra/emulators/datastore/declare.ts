// Declares one case of the protocol suite on one server. A known difference must FAIL, so that its
// end is noticed; a hanging one is skipped.
import { expect, test } from 'vitest';
import { CODE, freshKind, type Service } from './protocol-service.ts';

export interface Difference {
  /** Title of the case. */
  readonly case: string;
  /** This server's own behaviour, and the words that say who is right. */
  readonly why: string;
  /** It would wait for a lock until the deadline. */
  readonly hangs?: boolean;
}

/** `kind` is the case's own. */
export type Declare = (title: string, body: (service: Service, kind: string) => Promise<void>) => void;

export function declarer(service: () => Service, differences: readonly Difference[]): Declare {
  return (title, body) => {
    const difference = differences.find((entry) => entry.case === title);
    const run = difference === undefined ? test : difference.hangs === true ? test.skip : test.fails;
    const shown = difference === undefined ? title : `${title} (differs: ${difference.why})`;
    // oxlint-disable-next-line vitest/expect-expect, vitest/valid-title -- the cases hold both
    run(shown, () => body(service(), freshKind()));
  };
}

/** Declares that a call is INVALID_ARGUMENT. */
export function refuser(declare: Declare) {
  return (title: string, call: (service: Service, kind: string) => Promise<unknown>): void =>
    declare(`${title} is INVALID_ARGUMENT`, (service, kind) => expectCode(CODE.invalid, call(service, kind)));
}

/** The call must be refused with this code. */
export async function expectCode(code: number, call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toMatchObject({ code });
}
