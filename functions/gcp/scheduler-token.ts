// Cloud Run's gate checks Scheduler's ID token and removes its signature: none to verify here.
// https://cloud.google.com/run/docs/troubleshooting#signature-removed
import * as z from 'zod/mini';

const CLAIMS = z.object({ email: z.string(), email_verified: z.literal(true) });

/** Never beside `X-Serverless-Authorization`: the gate then checks that token alone. */
export function isFromAccount(request: Request, account: string): boolean {
  if (request.headers.has('X-Serverless-Authorization')) return false;
  const payload = /^Bearer +[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(request.headers.get('Authorization') ?? '')?.[1];
  if (payload === undefined) return false;
  try {
    return CLAIMS.parse(JSON.parse(Buffer.from(payload, 'base64url').toString())).email === account;
  } catch {
    // Not a token: an app key may look like one.
    return false;
  }
}
