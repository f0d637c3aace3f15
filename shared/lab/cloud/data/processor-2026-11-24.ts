// Client processor time, written by `npm run calibrate`: do not edit it. A calibration
// of another day is a new file.
import type { ProcessorTable } from './processor.ts';

export const PROCESSOR_2026_11_24: ProcessorTable = {
  measured: '2026-11-24',
  machine: { cpu: 'Intel(R) Xeon(R) Processor', cores: 2, platform: 'Linux 6.18.44-fc-v657 x64', node: '24.21.0' },
  packages: {
    '@stowage/store': '0.1.0',
    '@google-cloud/datastore': '11.1.0',
    '@azure/data-tables': '13.3.2',
    azurite: '3.37.0',
    '@google-cloud/functions-framework': '5.0.5',
    '@azure/functions': '4.16.5',
    msgpackr: '2.1.3',
  },
  rounds: 7,
  costs: {
    datastore: {
      record: {
        get: { alone: 540.8, busy: 159.6 },
        insert: { alone: 638.8, busy: 218 },
        replace: { alone: 427.3, busy: 222.5 },
        conditional: { alone: 979.3, busy: 566.3 },
      },
      batch: { read: { request: 244.7, record: 20.6 }, write: { request: 346.5, record: 20.2 } },
      container: {
        operation: {
          get: { alone: 22.1, busy: 16.6 },
          put: { alone: 41.1, busy: 27.5 },
          update: { alone: 62.2, busy: 44.5 },
          getManyRecord: 7.1,
          putManyRecord: 18.3,
        },
        request: { read: { alone: 252.2, busy: 74.4 }, write: { alone: 321.2, busy: 167.2 } },
        entity: { read: 17, written: 46 },
        kib: { read: 9, written: 7.6 },
      },
    },
    'azure-tables': {
      record: {
        get: { alone: 411.2, busy: 283.8 },
        insert: { alone: 384.8, busy: 212.1 },
        replace: { alone: 373.9, busy: 342.5 },
        conditional: { alone: 833.4, busy: 480 },
      },
      batch: { read: { request: 283.8, record: 0 }, write: { request: 553.9, record: 29.8 } },
      container: {
        operation: {
          get: { alone: 22.1, busy: 16.6 },
          put: { alone: 41.1, busy: 27.5 },
          update: { alone: 62.2, busy: 44.5 },
          getManyRecord: 7.1,
          putManyRecord: 18.3,
        },
        request: { read: { alone: 245.7, busy: 169.6 }, write: { alone: 194.7, busy: 178.4 } },
        entity: { read: 0, written: 88.6 },
        kib: { read: 12.7, written: 3.1 },
      },
    },
  },
};
