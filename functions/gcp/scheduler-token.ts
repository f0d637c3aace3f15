// Cloud Run's gate checks Scheduler's ID token and removes its signature: none is left to verify.
// https://cloud.google.com/run/docs/troubleshooting#signature-removed
import * as z from 'zod/mini';

const CLAIMS = z.object({ email: z.string(), email_verified: z.literal(true) });

/** False beside `X-Serverless-Authorization`, because the gate then checks only that token. */
export function isFromAccount(request: Request, account: string): boolean {
  if (request.headers.has('X-Serverless-Authorization')) return false;
  const payload = /^Bearer +[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(request.headers.get('Authorization') ?? '')?.[1];
  if (payload === undefined) return false;
  try {
    return CLAIMS.parse(JSON.parse(Buffer.from(payload, 'base64url').toString())).email === account;
  } catch {
    // It is no token but perhaps an app key that looks like one.
    return false;
  }
}
