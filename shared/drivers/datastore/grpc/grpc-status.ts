// How a gRPC call ends (https://github.com/grpc/grpc/blob/master/doc/statuscodes.md).
import { constants } from 'node:http2';

/** The codes that this driver distinguishes or makes. */
export const CODE = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** A call that did not end with OK. */
export class StatusError extends Error {
  readonly code: number;
  /** The service itself sent this code. Others never prove that a request had no effect. */
  readonly isVerdict: boolean;

  constructor(
    code: number,
    message: string,
    { isVerdict = false, cause }: { isVerdict?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StatusError';
    this.code = code;
    this.isVerdict = isVerdict;
  }
}

/** The error in headers or trailers, also if they have no status; undefined for OK. */
export function statusIn(headers: Readonly<Record<string, unknown>>, httpStatus: number): StatusError | undefined {
  const status = headers['grpc-status'];
  if (status === '0') return undefined;
  if (typeof status === 'string' && /^\d{1,9}$/.test(status))
    return new StatusError(Number(status), decodedMessage(headers['grpc-message']), { isVerdict: true });
  return statusOfHttp(httpStatus);
}

/** HTTP statuses that mean more than "try again" (grpc's doc/http-grpc-status-mapping.md). */
export function statusOfHttp(httpStatus: number): StatusError {
  const codes: Readonly<Record<number, number>> = {
    401: CODE.UNAUTHENTICATED,
    403: CODE.PERMISSION_DENIED,
    404: CODE.UNIMPLEMENTED,
  };
  return new StatusError(codes[httpStatus] ?? CODE.UNAVAILABLE, `a reply without a gRPC status: http=${httpStatus}`);
}

/**
 * Not even REFUSED_STREAM is a verdict: servers refused streams that they had delivered
 * (github.com/nghttp2/nghttp2/issues/2870).
 */
export function statusOfReset(http2Code: number, cause: unknown): StatusError {
  const codes: Readonly<Record<number, number>> = {
    [constants.NGHTTP2_ENHANCE_YOUR_CALM]: CODE.RESOURCE_EXHAUSTED,
    [constants.NGHTTP2_INADEQUATE_SECURITY]: CODE.PERMISSION_DENIED,
  };
  const message = `the stream ended before the reply was whole: http2=${http2Code}`;
  return new StatusError(codes[http2Code] ?? CODE.UNAVAILABLE, message, { cause });
}

/** Decodes percent-encoded UTF-8. Other text stays as it is. */
function decodedMessage(message: unknown): string {
  if (typeof message !== 'string') return '';
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
