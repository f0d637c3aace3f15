import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** `npm test` leaves these out: they take long, and show less of the store than of what is around it. */
export const REST = [
  'tests/readme.test.ts',
  'tests/adapters/{keyv,level,recipes}-suite.test.ts',
  'tests/conformance/datastore-sdk.test.ts',
  'tests/faults/*.test.ts',
  'tests/infra/*.test.ts',
  'tests/infra/{emulators,package,plugin}/**/*.test.ts',
  'tests/infra/cli/command-lines.test.ts',
  'tests/infra/hosts/contract/contract.test.ts',
  'tests/infra/start/interrupt.test.ts',
  'tests/lab/sdk/baseline.test.ts',
];

const WAITING = /faults\/faults|contract\.test|interrupt|start\.test|level-suite/;

/** Files that mostly wait for processes begin first: at the end one of them would run alone. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const { waiting = [], others = [] } = Object.groupBy(sorted, ({ moduleId }) =>
      WAITING.test(moduleId) ? 'waiting' : 'others',
    );
    return [...waiting, ...others];
  }
}

/** No emulators. */
const UNITS = ['tests/{store,lab,functions,client}/**/*.test.ts'];
/** A tracer follows all stores of its process until that ends. */
const ALONE = ['tests/functions/instance/function-spans.test.ts'];
// Emulators are started once and shared by all files; each case works in a fresh namespace.
const EMULATORS = 'tests/support/global-setup.ts';

export default defineConfig({
  test: {
    // Tests start many processes of the same few programs: each compiles its code once.
    env: { NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/node` },
    // They only end what hangs: no test may fail for a machine that is slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 10 } },
    // Many files wait for processes of their own: one more than the processors there are.
    maxWorkers: 3,
    sequence: { sequencer: WaitingFirst },
    // `npm test` runs all but the last, which `npm run test:rest` runs. Files that leave nothing behind
    // share the packages they import: that saves a fifth to a third of their processor time.
    projects: [
      { extends: true, test: { name: 'units', include: UNITS, exclude: [...REST, ...ALONE], isolate: false } },
      { extends: true, test: { name: 'alone', include: ALONE } },
      {
        extends: true,
        test: {
          name: 'product',
          isolate: false,
          include: ['tests/*.test.ts', 'tests/{adapters,conformance,drivers,infra,simulation}/**/*.test.ts'],
          exclude: [...REST, ...ALONE],
          globalSetup: [EMULATORS, 'tests/support/left-out.ts'],
        },
      },
      { extends: true, test: { name: 'rest', include: REST, globalSetup: [EMULATORS, 'tests/support/rare-tools.ts'] } },
    ],
  },
});
