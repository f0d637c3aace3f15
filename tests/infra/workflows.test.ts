// The workflows of .github: where the clouds' credentials can be had, no package's install script
// runs, and nothing is packaged.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';

interface Step {
  readonly run?: string;
  readonly uses?: string;
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<string, { readonly permissions?: Readonly<Record<string, string>>; readonly steps: readonly Step[] }>
  >;
}

const GITHUB = fileURLToPath(new URL('../../.github/', import.meta.url));
const read = (...names: string[]): unknown => load(readFileSync(path.join(GITHUB, ...names), 'utf8'));

/** The commands of a step, also of an action of our own. */
function commandsOf({ run, uses = '' }: Step): string[] {
  const [, own] = /^\.\/\.github\/(.+)$/.exec(uses) ?? [];
  if (own === undefined) return run === undefined ? [] : [run];
  return (read(own, 'action.yml') as { runs: { steps: Step[] } }).runs.steps.flatMap(commandsOf);
}

const jobs = readdirSync(path.join(GITHUB, 'workflows')).flatMap((file) => {
  const { permissions, jobs: all } = read('workflows', file) as Workflow;
  return Object.entries(all).map(([name, job]) => ({
    name: `${file}: ${name}`,
    isTrusted: (job.permissions ?? permissions)['id-token'] === 'write',
    commands: job.steps.flatMap(commandsOf),
  }));
});

test('a job that can have the clouds’ credentials runs no install script, and packages nothing', () => {
  const trusted = jobs.filter(({ isTrusted }) => isTrusted);
  expect(trusted.map(({ name }) => name)).toEqual([
    'compare.yml: compare',
    'deploy.yml: deploy',
    'publish.yml: publish',
  ]);
  const commands = trusted.flatMap((job) => job.commands);
  expect(commands.filter((one) => /\bnpm (ci|install)\b/.test(one) && !one.includes('--ignore-scripts'))).toEqual([]);
  expect(commands.filter((one) => /serverless (deploy|package)\b/.test(one) && !one.includes('--package'))).toEqual([]);
});
