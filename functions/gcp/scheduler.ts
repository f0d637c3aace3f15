// Cloud Scheduler's requests carry an ID token in `Authorization`, where callers have an app key. Cloud Run's gate checks the token, lets in
// the accounts that have the role, and takes the signature away before the function sees it
// (https://cloud.google.com/run/docs/troubleshooting#signature-removed). So there is nothing to verify here: the claims say whom the gate let in.
import * as z from 'zod/mini';

const CLAIMS = z.object({ email: z.string(), email_verified: z.literal(true) });

/**
 * Whether the token in `Authorization` is this account's. Beside `X-Serverless-Authorization` it never is: then the gate has looked at that
 * header's token alone, and the other one may say anything.
 */
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
