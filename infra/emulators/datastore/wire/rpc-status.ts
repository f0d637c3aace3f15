// Errors for clients, with a gRPC code and the wrong field. Other errors here are bugs: INTERNAL.
import { status } from '@grpc/grpc-js';

export class StatusError extends Error {
  readonly code: status;

  constructor(code: status, message: string) {
    super(message);
    this.code = code;
  }
}

/** INVALID_ARGUMENT about one field. Outer levels put their names before it. */
export class InvalidField extends StatusError {
  readonly field: string;
  readonly reason: string;

  constructor(field: string, reason: string) {
    super(status.INVALID_ARGUMENT, `${field}: ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}

export function invalid(field: string, reason: string): InvalidField {
  return new InvalidField(field, reason);
}

/** Runs `body`, and puts `outer` before the field that an INVALID_ARGUMENT of it names. */
export function inside<T>(outer: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw new InvalidField(error.field === '' ? outer : `${outer}.${error.field}`, error.reason);
  }
}

/** UNIMPLEMENTED about a field or a part of it. */
export function unsupported(field: string): StatusError {
  const advice = "this emulator does not support it; start Google's with --datastore google";
  return new StatusError(status.UNIMPLEMENTED, `${field}: ${advice}`);
}

export { status };
