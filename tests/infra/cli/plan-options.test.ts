// The options of a comparison.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, commandLineOf } from '../../../infra/cli/command-options.ts';
import { baselineFrom, PLAN_OPERAND, PLAN_OPTIONS, planFrom } from '../../../infra/cli/plan-options.ts';
import { DEFAULT_PLAN, PLANS, planSchema } from '../../../shared/lab/plan/plan.ts';
import { sampleReport } from '../../lab/report/sample-report.ts';
import { testFolder } from '../../support/folder.ts';

const TOOL = command({ name: 'tool', operands: [PLAN_OPERAND], about: '', options: PLAN_OPTIONS, examples: [] });

async function fileOf(name: string, content: unknown): Promise<string> {
  const file = path.join(await testFolder(), name);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const planOf = (...args: string[]) => {
  const { operands, values } = commandLineOf(TOOL, args);
  return planFrom(operands[0], values);
};

describe('the plan', () => {
  test('is the default one, one by name, or a file', async () => {
    expect(await planOf()).toEqual(DEFAULT_PLAN);
    expect(await planOf('full')).toEqual(PLANS.full);
    const file = await fileOf('own.json', { name: 'own', callers: [2], workloads: ['ycsb-e'] });
    expect(await planOf(file)).toEqual(planSchema.parse({ name: 'own', callers: [2], workloads: ['ycsb-e'] }));
  });

  test('is changed by options, and then called custom', async () => {
    const args =
      'full --workloads ycsb-a,load --layouts container --callers 8,1,8 --rates 50,100.5 --arrivals equidistant --hold p99.9<20 --instances 1,4 --keys uniform ' +
      '--records 2000 --bytes 1000 --record-form text --container-kib 64,256 --seconds 0.5 --repetitions 6 --seed 9';
    expect(await planOf(...args.split(' '))).toEqual(
      planSchema.parse({
        ...PLANS.full,
        name: 'custom',
        workloads: ['ycsb-a', 'load'],
        layouts: ['container'],
        callers: [1, 8],
        ratesPerSecond: [50, 100.5],
        arrivals: 'equidistant',
        search: { percentile: 99.9, latencyMsMax: 20 },
        instances: [1, 4],
        keys: 'uniform',
        records: 2_000,
        recordBytes: [1_000],
        recordForm: 'text',
        containerKib: [64, 256],
        durationMs: 500,
        repetitions: 6,
        seed: 9,
      }),
    );
  });

  test.each([
    [['nothing-there'], 'there is no plan nothing-there: it is default, '],
    [['--workloads=put'], '--workloads is one of load, ycsb-c'],
    [['--callers=10000'], 'callers'],
    [['--hold=p42<20'], '--hold takes'],
    [['--container-kib=1024'], 'a container has 16 to 703 KiB'],
  ])('%j is refused with what it may be', async (args, message) => {
    await expect(async () => await planOf(...args)).rejects.toThrow(
      expect.objectContaining({ name: 'UsageError', message: expect.stringContaining(message) }),
    );
  });

  test('in a file that is wrong is refused with the file and the fault', async () => {
    await expect(planOf(await fileOf('broken.json', '{'))).rejects.toThrow(/broken\.json: a plan is JSON/);
    await expect(planOf(await fileOf('wrong.json', { rungs: [1] }))).rejects.toThrow(/wrong\.json: [^]*rungs/);
  });
});

const baselineOf = (...args: string[]) => baselineFrom(commandLineOf(TOOL, args).values);

describe('an earlier report', () => {
  test('is read, with the conditions on what changed', async () => {
    const report = sampleReport();
    const file = await fileOf('compare.json', report);
    expect(await baselineOf('--against', file, '--fail-if', 'throughput<0.9x')).toEqual({
      report,
      conditions: [expect.objectContaining({ figure: 'throughput', bound: 0.9, isRelative: true })],
    });
    expect(await baselineOf()).toEqual({ report: undefined, conditions: [] });
  });

  test.each([
    ['none', '{', /^--against: /],
    ['of another version', { schemaVersion: 2 }, /^--against: .*schema version 2, this compares reports of version 6/],
  ])('is refused where it is %s', async (_, content, message) => {
    await expect(baselineOf('--against', await fileOf('old.json', content))).rejects.toThrow(message);
  });

  test.each([
    [['p99>50,throughput<0.9x'], /^--fail-if: throughput<0.9x needs --against/],
    [['put<0.9', '--against', 'x'], /^--fail-if: .*"put" is none of/],
  ])('does not go with the conditions %j', async (args, message) => {
    await expect(baselineOf('--fail-if', ...args)).rejects.toThrow(message);
  });
});
