// A stream that has ended proves nothing, unless message and status had both come whole before.
import { expect, test } from 'vitest';
import { Reply } from '../../../shared/drivers/datastore/grpc/call.ts';
import { message, RESPONSE_HEADERS } from './frames.ts';

const TEXT = Buffer.from('whole');
const OK = { 'grpc-status': '0' };

/** A reply of which this much came. */
function cameSoFar(bytes: Buffer): Reply {
  const reply = new Reply();
  expect(reply.headers(RESPONSE_HEADERS, false)).toBeUndefined();
  expect(reply.data(bytes)).toBeUndefined();
  return reply;
}

test('a message and its status OK are the reply, whichever comes last', () => {
  expect(cameSoFar(message(TEXT)).trailers(OK)).toEqual(TEXT);
  const late = cameSoFar(message(TEXT).subarray(0, 7));
  expect(late.trailers(OK)).toBeUndefined();
  expect(late.data(message(TEXT).subarray(7))).toEqual(TEXT);
});

test.each([0, 2, 7, 8])('status OK proves nothing where the stream ends within the message (code %i)', (code) => {
  for (let size = 0; size < message(TEXT).length; size += 1) {
    const reply = cameSoFar(message(TEXT).subarray(0, size));
    expect(reply.trailers(OK)).toBeUndefined();
    expect(reply.end(code, undefined)).toMatchObject({ name: 'StatusError', isVerdict: false });
  }
});
