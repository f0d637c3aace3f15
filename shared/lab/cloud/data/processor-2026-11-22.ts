// Client processor time, written by `npm run calibrate -- processor`: do not edit it. A calibration
// of another day is a new file.
import type { ProcessorTable } from './processor.ts';

export const PROCESSOR_2026_11_22: ProcessorTable = {
  measured: '2026-11-22',
  machine: { cpu: 'AMD EPYC', cores: 2, platform: 'Linux 6.18.44-fc-v669 x64', node: '24.21.0' },
  packages: {
    stowage: '0.1.0',
    '@google-cloud/datastore': '11.1.0',
    '@azure/data-tables': '13.3.2',
    azurite: '3.37.0',
    '@google-cloud/functions-framework': '5.0.5',
    '@azure/functions': '4.16.5',
    msgpackr: '2.1.3',
  },
  rounds: 5,
  costs: {
    datastore: {
      record: {
        get: { alone: 553.8, busy: 378.3 },
        insert: { alone: 504, busy: 282.2 },
        replace: { alone: 524, busy: 271.8 },
        // 2.4 replacements, measured in alternation on 2026-11-23 (21 and 61 rounds): the
        // transaction begins with its first read since then.
        conditional: { alone: 1257.6, busy: 652.3 },
      },
      batch: { read: { request: 605.1, record: 27.1 }, write: { request: 397, record: 20.8 } },
      container: {
        operation: {
          get: { alone: 27.7, busy: 27.7 },
          put: { alone: 36.1, busy: 36.1 },
          update: { alone: 74.6, busy: 52.2 },
          getManyRecord: 13.9,
          putManyRecord: 20.2,
        },
        request: { read: { alone: 451.7, busy: 308.6 }, write: { alone: 386.1, busy: 200.3 } },
        entity: { read: 26.5, written: 93.1 },
        kib: { read: 19.2, written: 28.3 },
      },
    },
    'azure-tables': {
      record: {
        get: { alone: 436.6, busy: 410.2 },
        insert: { alone: 421.9, busy: 354.9 },
        replace: { alone: 471.2, busy: 401.8 },
        conditional: { alone: 885.8, busy: 792 },
      },
      batch: { read: { request: 410.2, record: 0 }, write: { request: 1148.7, record: 36.5 } },
      container: {
        operation: {
          get: { alone: 27.7, busy: 27.7 },
          put: { alone: 36.1, busy: 36.1 },
          update: { alone: 74.6, busy: 52.2 },
          getManyRecord: 13.9,
          putManyRecord: 20.2,
        },
        request: { read: { alone: 360.7, busy: 338.9 }, write: { alone: 315.1, busy: 268.7 } },
        entity: { read: 0, written: 109.9 },
        kib: { read: 23.4, written: 33.7 },
      },
    },
  },
};
