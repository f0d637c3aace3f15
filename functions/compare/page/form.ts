// The live page's form. Nothing of it is stored: keys are read when the comparison starts.
import type * as z from 'zod';
import { LAYOUTS, type Provider, PROVIDERS, WORKLOADS } from '../../../shared/lab/kit/dimensions.ts';
import type { Endpoint } from '../../../shared/lab/plan/endpoint.ts';
import { type Plan, PLANS, planSchema } from '../../../shared/lab/plan/plan.ts';
import { PROVIDER_NAMES } from '../../../shared/lab/report/names.ts';

/** An entry of the form is wrong; the message says where and how. */
export class FormError extends Error {}

/** The header that each platform's own gate asks for, and what stands before the key in it. */
const GATES: Readonly<Record<Provider, readonly [name: string, prefix: string]>> = {
  datastore: ['X-Serverless-Authorization', 'Bearer '],
  'azure-tables': ['x-functions-key', ''],
};

const CHOICES = { workloads: WORKLOADS, layouts: LAYOUTS } as const;

const SECONDS = { least: 0.001, most: 60 };

const NUMBERS = ['repetitions', 'records', 'seed'] as const;

export class PlanForm {
  readonly #form: HTMLFormElement;
  /** The page's own cloud: its function needs no address. */
  readonly #own: Provider | undefined;
  isLocked = false;

  constructor(form: HTMLFormElement, own: Provider | undefined) {
    this.#form = form;
    this.#own = own;
    this.#select('plan').append(...Object.keys(PLANS).map((name) => new Option(name)));
    for (const [name, values] of Object.entries(CHOICES))
      form.querySelector(`[data-choices=${name}]`)!.append(...values.map((value) => choiceOf(name, value)));
    if (own !== undefined) {
      this.#input(`${own}-isOn`).checked = true;
      this.#input(`${own}-url`).placeholder = 'this page’s own';
    }
    this.#select('plan').addEventListener('change', () => this.#show(this.#named()));
    this.#show(this.#named());
  }

  /** The plan as it stands. Throws a FormError. */
  plan(): Plan {
    const named = this.#named();
    const changes = {
      callers: this.#numbers('callers'),
      durationMs: Math.round(this.#seconds() * 1_000),
      ...Object.fromEntries(NUMBERS.map((name) => [name, this.#number(name)])),
      workloads: this.#chosen('workloads'),
      layouts: this.#chosen('layouts'),
    };
    const parsed = planSchema.safeParse({ ...named, ...changes });
    if (!parsed.success) throw new FormError(parsed.error.issues.map((issue) => this.#issueWords(issue)).join('\n'));
    const isNamed = JSON.stringify(parsed.data) === JSON.stringify(named);
    return isNamed ? named : { ...parsed.data, name: 'custom' };
  }

  /** The functions that take part, with their keys. Throws a FormError. */
  endpoints(): Endpoint[] {
    const on = this.providers();
    if (on.length === 0) throw new FormError('Choose a cloud at least.');
    return on.map((provider) => {
      const key = this.#text(`${provider}-key`);
      if (key === '') throw new FormError(`${PROVIDER_NAMES[provider]}: its app key is missing.`);
      const gate = this.#text(`${provider}-gate`);
      const [name, prefix] = GATES[provider];
      return {
        provider,
        urls: [this.#urlOf(provider)],
        headers: { Authorization: `Bearer ${key}`, ...(gate === '' ? {} : { [name]: prefix + gate }) },
      };
    });
  }

  tellBeside(provider: Provider, field: 'url' | 'key' | 'gate', message: string): void {
    const input = this.#input(`${provider}-${field}`);
    const words = Object.assign(document.createElement('small'), { className: 'wrong', textContent: message });
    words.id = `${input.name}-wrong`;
    input.setAttribute('aria-invalid', 'true');
    input.setAttribute('aria-describedby', words.id);
    input.after(words);
  }

  untell(): void {
    for (const words of this.#form.querySelectorAll('.wrong')) words.remove();
    for (const input of this.#form.querySelectorAll('[aria-invalid]')) {
      input.removeAttribute('aria-invalid');
      input.removeAttribute('aria-describedby');
    }
  }

  providers(): Provider[] {
    return PROVIDERS.filter((provider) => this.#input(`${provider}-isOn`).checked);
  }

  lock(isLocked: boolean): void {
    this.isLocked = isLocked;
    for (const fieldset of this.#form.querySelectorAll('fieldset')) fieldset.disabled = isLocked;
  }

  #urlOf(provider: Provider): string {
    const text = this.#text(`${provider}-url`);
    if (text === '' && provider === this.#own) return location.origin;
    const whose = `${PROVIDER_NAMES[provider]}: the address of its function`;
    if (text === '') throw new FormError(`${whose} is missing.`);
    if (!/^https?:\/\/./.test(text)) throw new FormError(`${whose} begins with http:// or https://, not as "${text}".`);
    return text.replace(/(\/v1(\/compare)?)?\/*$/, '');
  }

  #named(): Plan {
    return PLANS[this.#select('plan').value as keyof typeof PLANS];
  }

  #show(plan: Plan): void {
    this.#input('callers').value = plan.callers.join(', ');
    this.#input('seconds').value = String(plan.durationMs / 1_000);
    for (const name of NUMBERS) this.#input(name).value = String(plan[name]);
    for (const name of ['workloads', 'layouts'] as const) {
      const chosen: readonly string[] = plan[name];
      for (const box of this.#boxes(name)) box.checked = chosen.includes(box.value);
    }
  }

  #chosen(name: keyof typeof CHOICES): string[] {
    return this.#boxes(name).flatMap(({ checked, value }) => (checked ? [value] : []));
  }

  #boxes(name: keyof typeof CHOICES): HTMLInputElement[] {
    return [...this.#form.querySelectorAll<HTMLInputElement>(`input[name=${name}]`)];
  }

  #seconds(): number {
    const seconds = this.#number('seconds');
    if (seconds >= SECONDS.least && seconds <= SECONDS.most) return seconds;
    throw new FormError(`${this.#labelOf('seconds')}: from ${SECONDS.least} to ${SECONDS.most}, not ${seconds}.`);
  }

  #numbers(name: string): number[] {
    return this.#text(name)
      .split(',')
      .map((part) => this.#numberOf(name, part.trim()));
  }

  #number(name: string): number {
    return this.#numberOf(name, this.#text(name));
  }

  /** Throws a FormError that names the field: also for a comma between thousands. */
  #numberOf(name: string, text: string): number {
    const number = text === '' ? NaN : Number(text);
    if (!Number.isNaN(number)) return number;
    throw new FormError(`${this.#labelOf(name)}: "${text}" is no number.`);
  }

  #issueWords({ path: [name], message }: z.core.$ZodIssue): string {
    return name === undefined ? message : `${this.#labelOf(String(name))}: ${message}`;
  }

  #labelOf(name: string): string {
    const group = this.#form.querySelector(`[data-choices=${name}]`);
    return group?.ariaLabel ?? this.#input(name)?.labels?.[0]?.textContent.trim() ?? name;
  }

  #text(name: string): string {
    return this.#input(name).value.trim();
  }

  #input(name: string): HTMLInputElement {
    return this.#form.elements.namedItem(name) as HTMLInputElement;
  }

  #select(name: string): HTMLSelectElement {
    return this.#form.elements.namedItem(name) as HTMLSelectElement;
  }
}

function choiceOf(name: string, value: string): HTMLLabelElement {
  const label = document.createElement('label');
  const box = Object.assign(document.createElement('input'), { type: 'checkbox', name, value });
  label.append(box, value);
  return label;
}
