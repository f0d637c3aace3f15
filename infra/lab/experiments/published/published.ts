// The printed figures of the five documents, with their sources. They are copied once and never
// computed.
import type { Result } from '../../../../shared/lab/report/chapters/schema.ts';
import PUBLISHED from './published.json' with { type: 'json' };

export { PUBLISHED };

/** Titles as the documents have them, or translated. */
export const SOURCES = {
  A: {
    title: 'Datastore Container: pickle versus marshal (in German)',
    year: 2008,
    platform: 'Google App Engine in production, Python 2.5',
  },
  B: {
    title: 'Speeding up Azure Table Storage (2): parallelism (in Japanese)',
    year: 2011,
    platform: 'Azure Table Storage from one small web role, C#',
  },
  C: { title: 'Improved Datastore performance', year: 2009, platform: 'Google App Engine, Python' },
  D: { title: 'Serializer benchmarks', year: 2007, platform: 'Python, on one computer' },
  E: {
    title: 'Google App Engine: speed of data operations (in Russian)',
    year: 2011,
    platform: 'one instance of Google App Engine',
  },
} as const satisfies Record<string, Result['source']>;
