// Remembers the datasets that comparisons in this browser made until they are removed, because a
// tab may be closed before. No keys are stored.
import type { Provider } from '../kit/dimensions.ts';
import type { PlanEvent } from '../plan/outcome.ts';

/** A space stands neither in an address nor in a dataset's name. */
const MARK = 'stowage-made ';

/** A dataset, and the address of the function that removes it. */
export interface Made {
  readonly url: string;
  readonly dataset: string;
}

export function note(event: PlanEvent, urlOf: (provider: Provider) => string): void {
  if (event.kind !== 'making' && event.kind !== 'gone') return;
  const name = nameOf({ url: urlOf(event.provider), dataset: event.dataset });
  if (event.kind === 'making') localStorage.setItem(name, '');
  else localStorage.removeItem(name);
}

/** Datasets not removed yet, also those of a run in another tab. */
export function notGone(): Made[] {
  return Object.keys(localStorage).flatMap((name) => {
    if (!name.startsWith(MARK)) return [];
    const [url = '', dataset = ''] = name.slice(MARK.length).split(' ');
    return [{ url, dataset }];
  });
}

export function forget(made: readonly Made[]): void {
  for (const one of made) localStorage.removeItem(nameOf(one));
}

/** For a shell: `H` is the header with the key, `GATE` that of the platform's gate. */
export function commandOf({ url, dataset }: Made): string {
  return `curl -X DELETE -H "$H" -H "$GATE" ${url}/v1/compare/datasets/${dataset}`;
}

function nameOf({ url, dataset }: Made): string {
  return `${MARK}${url} ${dataset}`;
}
