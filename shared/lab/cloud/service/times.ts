// How long requests take: on the way, and at the service.
import { power } from '../../kit/exact-math.ts';
import type { ProviderParameters, RequestKind } from '../data/parameters.ts';
import type { Draws } from './draws.ts';
import type { ModelRequest } from './request.ts';

interface KindTimes {
  readonly baseMs: number;
  readonly perEntityMs: number;
  readonly perByteMs: number;
  readonly perIndexRowMs: number;
  readonly sigma: number;
}

export class ServiceTimes {
  readonly #parameters: ProviderParameters;
  readonly #draws: Draws;
  readonly #kinds = new Map<RequestKind, KindTimes>();
  readonly #way: { readonly medianMs: number; readonly sigma: number };
  readonly #tail: { readonly share: number; readonly factor: number };
  #exponent: number | undefined;

  constructor(parameters: ProviderParameters, draws: Draws) {
    this.#parameters = parameters;
    this.#draws = draws;
    const get = parameters.get.bind(parameters);
    this.#way = { medianMs: get('network.oneWayMs.median'), sigma: get('network.oneWayMs.sigma') };
    const share = get('tail.share');
    this.#tail = { share, factor: share === 0 ? 1 : get('tail.factor') };
  }

  /** One way through the network. */
  wayMs(): number {
    return this.#draws.lognormal(this.#way.medianMs, this.#way.sigma);
  }

  /** By how much this request is slower, or quicker, than the median of its like. */
  pace(kind: RequestKind): number {
    const pace = this.#draws.lognormal(1, this.#of(kind).sigma);
    const { share, factor } = this.#tail;
    return share > 0 && this.#draws.uniform() < share ? pace * factor : pace;
  }

  /** The median of all that does not hang on the reply. */
  requestMs({ kind, accesses }: ModelRequest): number {
    const { baseMs, perEntityMs, perByteMs, perIndexRowMs } = this.#of(kind);
    let bytes = 0;
    let indexRows = 0;
    for (const access of accesses) {
      bytes += access.bytes;
      indexRows += access.indexRows ?? 0;
    }
    return baseMs + this.#entitiesMs(accesses.length - 1, perEntityMs) + bytes * perByteMs + indexRows * perIndexRowMs;
  }

  /** The median of what the reply adds. */
  replyMs(kind: RequestKind, bytes: number, entities: number): number {
    const { perEntityMs, perByteMs } = this.#of(kind);
    return this.#entitiesMs(entities, perEntityMs) + bytes * perByteMs;
  }

  #entitiesMs(entities: number, perEntityMs: number): number {
    if (entities <= 0 || perEntityMs === 0) return 0;
    this.#exponent ??= this.#parameters.get('batch.exponent');
    return perEntityMs * (this.#exponent === 1 ? entities : power(entities, this.#exponent));
  }

  #of(kind: RequestKind): KindTimes {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const parameters = this.#parameters;
    const times = {
      baseMs: parameters.get(`${kind}.baseMs`),
      perEntityMs: parameters.get(`${kind}.perEntityMs`),
      perByteMs: parameters.get(`${kind}.perKibMs`) / 1_024,
      perIndexRowMs: kind === 'commit' ? parameters.get('commit.perIndexRowMs') : 0,
      sigma: parameters.get(`${kind}.sigma`),
    };
    this.#kinds.set(kind, times);
    return times;
  }
}
