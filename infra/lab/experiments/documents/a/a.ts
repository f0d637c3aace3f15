// Document A: which serializer a container should have.
import type { Experiment, ExperimentContext } from '../../experiment.ts';
import { SOURCES } from '../../published/published.ts';
import type { Chapter } from '../../../../../shared/lab/report/chapters/schema.ts';
import { containerTable } from './container.ts';
import { defaultsTable } from './defaults.ts';
import { findingsOf } from './findings.ts';
import { sixColumnTable } from './six-columns.ts';

export const EXPERIMENT_A: Experiment = {
  id: 'a',
  title: 'A container of records: which serializer?',
  question: 'Many records in one entity are read and written whole: which serializer is fast and small?',
  source: SOURCES.A,
  run: chapter,
};

async function chapter(context: ExperimentContext): Promise<Chapter> {
  const thousand = await sixColumnTable(context, 1_000);
  const rows = await sixColumnTable(context, 10_000);
  context.log('serializers measured');
  const defaults = await defaultsTable(context);
  context.log('codecs and compressions of the store measured');
  const container = await containerTable(context);
  return {
    tables: [thousand, rows, container, defaults],
    wordTables: [],
    cannotShow: [
      'Serializing needs no cloud; but a cloud function has a share of a processor, and a slower one.',
      'Reading and writing an entity take milliseconds on a network, and little on one machine: the serializer’s share of an operation is smaller in a cloud than here.',
    ],
    findings: findingsOf({ rows, container, defaults }),
  };
}
