// The fields by which Google's log ties a line to its request, its trace and Error Reporting:
// https://cloud.google.com/logging/docs/structured-logging#structured_logging_special_fields
import type { LogLine } from '../http/log.ts';

/** The line as Cloud Logging reads it. The request has no URL there, as that holds keys. */
export function cloudLogging({ stack, ...line }: LogLine, project: string): object {
  const { method, status, durationMs, traceparent } = line;
  const [, trace, spanId, flags] = traceparent?.split('-') ?? [];
  return {
    ...line,
    httpRequest: { requestMethod: method, status, latency: `${durationMs / 1_000}s` },
    ...(stack === undefined ? {} : { stack_trace: stack }),
    ...(trace === undefined
      ? {}
      : {
          'logging.googleapis.com/trace': `projects/${project}/traces/${trace}`,
          'logging.googleapis.com/spanId': spanId,
          'logging.googleapis.com/trace_sampled': flags?.endsWith('1') === true,
        }),
  };
}
