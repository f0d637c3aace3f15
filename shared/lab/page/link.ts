// What a page is given: a report, which it shows instead of its form, or addresses and keys in the
// fragment of its link, which browsers send nowhere; the page takes it out of the address bar.
import { type Provider, PROVIDERS } from '../kit/dimensions.ts';

export interface Keys {
  /** The app key of the role `compare`. */
  readonly key: string;
  /** What the platform's own gate asks for: an ID token, or a function key. */
  readonly gate?: string;
}

/** The names of the form's fields. */
export const FIELDS = ['url', 'key', 'gate'] as const;

/** `urls` are those of the functions `compare`, without `/v1`. The first cloud's page is opened. */
export function openLink(
  urls: Readonly<Partial<Record<Provider, string>>>,
  keys: Readonly<Partial<Record<Provider, Keys>>>,
): string {
  const fragment = new URLSearchParams();
  const named = PROVIDERS.filter((provider) => urls[provider] !== undefined);
  for (const provider of named) {
    const values = { url: urls[provider], ...keys[provider] };
    for (const field of FIELDS) if (values[field] !== undefined) fragment.set(`${provider}-${field}`, values[field]);
  }
  return `${urls[named[0]!]}/v1/compare#${fragment.toString()}`;
}

const PLACE = /(<script id="data" type="application\/json">)[^]*?(<\/script>)/;

/** `html` is the page without a report. Throws if it has no place for one. */
export function withReport(html: string, report: object): string {
  if (!PLACE.test(html)) throw new Error('the page has no place for a report');
  // `</script>` and `<!--` in a text would end or change the element.
  const json = JSON.stringify(report).replaceAll('<', String.raw`\u003c`);
  return html.replace(PLACE, (_, opening: string, closing: string) => opening + json + closing);
}
