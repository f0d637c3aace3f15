// What the factories of drivers share: misuse is told by them, and not later by a provider that seems not to answer. Nothing is sent to find out.
import { isText, type Kind } from '../../store/contract/options.ts';

/** As the URL class writes them. */
const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** An `http:` or `https:` address. */
export function addressLike(examples: string): Kind {
  return { name: `an address like ${examples}`, isShown: true, accepts: isAddress };
}

/** A string of this form. */
export function textLike(name: string, form: RegExp): Kind {
  return { name, isShown: true, accepts: (value) => isText(value) && form.test(value) };
}

export function isAddress(value: unknown): value is string {
  return isText(value) && /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** Throws a TypeError for `http:` to another machine, unless it is allowed: whoever is on the way reads and changes what it carries. */
export function checkSecure(factory: string, endpoint: string, allowInsecureConnection = false): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol === 'https:' || allowInsecureConnection || LOOPBACK_HOST.test(hostname)) return;
  throw new TypeError(
    `${factory}: endpoint is http: on another machine (${hostname}): give an https: address, or allowInsecureConnection: true`,
  );
}
