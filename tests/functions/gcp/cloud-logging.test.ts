// A line of the log as Google's platform reads it.
import { expect, test } from 'vitest';
import { cloudLogging } from '../../../functions/gcp/platform.ts';
import { causesOf, type LogLine } from '../../../functions/http/log.ts';
import { Problem } from '../../../functions/http/problem.ts';
import { StoreError } from '../../../shared/store/index.ts';

const LINE: LogLine = {
  severity: 'INFO',
  message: 'GET /v1/tables 200',
  requestId: 'r',
  method: 'GET',
  route: '/v1/tables',
  status: 200,
  durationMs: 12.5,
};

test('a line has its request, and its trace and span if the request has', () => {
  const httpRequest = { requestMethod: 'GET', status: 200, latency: '0.0125s' };
  expect(cloudLogging(LINE, 'p')).toEqual({ ...LINE, httpRequest });
  const traceparent = '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01';
  expect(cloudLogging({ ...LINE, traceparent }, 'p')).toEqual({
    ...LINE,
    traceparent,
    httpRequest,
    'logging.googleapis.com/trace': 'projects/p/traces/0123456789abcdef0123456789abcdef',
    'logging.googleapis.com/spanId': '0123456789abcdef',
    'logging.googleapis.com/trace_sampled': true,
  });
});

test('a failure has the stack of its innermost cause, for Error Reporting, and no message, which may quote data', () => {
  const inner = new TypeError('secret is no number');
  const outer = new StoreError('unavailable', 'secret could not be read', { cause: inner });
  const causes = causesOf(new Problem('internal', 'x', { cause: outer }));
  const line = cloudLogging({ ...LINE, severity: 'ERROR', ...causes }, 'p') as Record<string, unknown>;
  expect(line['stack_trace']).toMatch(/^TypeError:\n +at .*cloud-logging\.test\.ts:\d+:\d+/);
  expect(line['causes']).toEqual([
    expect.stringMatching(/^StoreError unavailable at /),
    expect.stringMatching(/^TypeError at /),
  ]);
  expect(line).not.toHaveProperty('stack');
  expect(JSON.stringify(line)).not.toContain('secret');
});
