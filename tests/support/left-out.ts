// The line at the end of `npm test` that says what it left out.
import { globSync } from 'node:fs';
import type { TestProject } from 'vitest/node';
import { REST } from '../../vitest.config.ts';

/** A global setup: says at the end of a run what it left out. */
export default function setup({ vitest }: TestProject): (() => void) | undefined {
  if (vitest.projects.some(({ name }) => name === 'rest')) return undefined;
  const files = globSync(REST, { cwd: vitest.config.root }).length;
  return () =>
    console.log(
      `Left out: ${files} files of tests, of deployments, packages and commands. npm run test:rest runs them.`,
    );
}
