// The live page's form. Nothing of it is stored: keys are read when the comparison starts.
import { type Provider, PROVIDERS } from '../kit/dimensions.ts';
import type { Endpoint } from '../plan/endpoint.ts';
import { type Plan, PLANS, planSchema } from '../plan/plan.ts';
import { PROVIDER_NAMES } from '../report/names.ts';
import { FIELDS } from './link.ts';

/** An entry of the form is wrong; the message says where and how. */
export class FormError extends Error {}

/** The header that each platform's own gate asks for, and what stands before the key in it. */
const GATES: Readonly<Record<Provider, readonly [name: string, prefix: string]>> = {
  datastore: ['X-Serverless-Authorization', 'Bearer '],
  'azure-tables': ['x-functions-key', ''],
};

export class PlanForm {
  readonly element: HTMLFormElement;

  /** `own`: the page's own cloud, whose function's address is known. */
  constructor(element: HTMLFormElement, own: Provider | undefined) {
    this.element = element;
    if (own !== undefined) this.#field(`${own}-url`).value = location.origin;
    this.#takeFragment();
    this.#field('plan').append(...Object.keys(PLANS).map((name) => new Option(name)));
    this.#field('plan').addEventListener('change', () => this.#show(this.#named()));
    this.#show(this.#named());
  }

  /** The plan as it stands. Throws a FormError. */
  plan(): Plan {
    const named = this.#named();
    const parsed = planSchema.safeParse({
      ...named,
      callers: this.#text('callers').split(',').map(Number),
      durationMs: Math.round(Number(this.#text('seconds')) * 1_000),
      repetitions: Number(this.#text('repetitions')),
    });
    if (!parsed.success)
      throw new FormError(parsed.error.issues.map(({ path, message }) => `${path.join(' ')}: ${message}`).join('\n'));
    const isNamed = JSON.stringify(parsed.data) === JSON.stringify(named);
    return isNamed ? named : { ...parsed.data, name: 'custom' };
  }

  /** The clouds that have a key. Throws a FormError. */
  endpoints(): Endpoint[] {
    const on = PROVIDERS.filter((provider) => this.#text(`${provider}-key`) !== '');
    if (on.length === 0) throw new FormError('Give the app key of at least one cloud.');
    return on.map((provider) => {
      const url = this.#text(`${provider}-url`).replace(/(\/v1(\/compare)?)?\/*$/, '');
      if (url === '') throw new FormError(`${PROVIDER_NAMES[provider]}: the address of its function is missing.`);
      const gate = this.#text(`${provider}-gate`);
      const [name, prefix] = GATES[provider];
      const key = { Authorization: `Bearer ${this.#text(`${provider}-key`)}` };
      return { provider, urls: [url], headers: { ...key, ...(gate === '' ? {} : { [name]: prefix + gate }) } };
    });
  }

  /** While a comparison runs: its curves take the place of the fields. */
  lock(isLocked: boolean): void {
    for (const fieldset of this.element.querySelectorAll('fieldset')) fieldset.hidden = isLocked;
    this.element.querySelector('button')!.disabled = isLocked;
  }

  /** Addresses and keys that a link brought (link.ts). */
  #takeFragment(): void {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const name of PROVIDERS.flatMap((provider) => FIELDS.map((field) => `${provider}-${field}`)))
      if (given.has(name)) this.#field(name).value = given.get(name)!;
    if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  }

  #named(): Plan {
    return PLANS[this.#text('plan') as keyof typeof PLANS];
  }

  #show(plan: Plan): void {
    this.#field('callers').value = plan.callers.join(', ');
    this.#field('seconds').value = String(plan.durationMs / 1_000);
    this.#field('repetitions').value = String(plan.repetitions);
  }

  #text(name: string): string {
    return this.#field(name).value.trim();
  }

  #field(name: string): HTMLInputElement {
    return this.element.elements.namedItem(name) as HTMLInputElement;
  }
}
