// Checks the factories' options at once, as a wrong one would later look like a provider's failure.
import type { Driver } from '../../store/contract/driver.ts';
import { isText, type Kind } from '../../store/contract/check-options.ts';

/** A driver that `await using` can close if no store owns it. */
export function disposable(driver: Driver): Driver & AsyncDisposable {
  return Object.assign(driver, { [Symbol.asyncDispose]: () => driver.close() });
}

/** Whether these are the options of which this is one. */
export function hasOption<Options extends object, Name extends string>(
  options: Options,
  name: Name,
): options is Extract<Options, Readonly<Record<Name, unknown>>> {
  return typeof options === 'object' && options !== null && name in options;
}

/** Hosts of this machine, as the URL class writes them. */
const LOOPBACK_HOST = /^((.+\.)?localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

/** The host to connect to: names below localhost are this machine's (RFC 6761, 6.3). */
export function socketHost({ hostname }: URL): string {
  // The URL class writes an IPv6 address in brackets, sockets take it without.
  return hostname.endsWith('.localhost') ? 'localhost' : hostname.replace(/^\[(.*)\]$/, '$1');
}

export function addressLike(examples: string): Kind {
  return { name: `an address like ${examples}`, isShown: true, accepts: isAddress };
}

/** An option that is a string of this form; `name` describes the form. */
export function textLike(name: string, form: RegExp): Kind {
  return { name, isShown: true, accepts: (value) => isText(value) && form.test(value) };
}

export function isAddress(value: unknown): value is string {
  return isText(value) && /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** Throws a TypeError for `http:` to another machine, which anybody between can read and change. */
export function checkSecure(factory: string, endpoint: string, allowInsecureConnection = false): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol === 'https:' || allowInsecureConnection || LOOPBACK_HOST.test(hostname)) return;
  throw new TypeError(
    `${factory}: endpoint is http: on another machine (${hostname}): give an https: address, or allowInsecureConnection: true`,
  );
}
