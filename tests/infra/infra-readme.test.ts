// infra/README.md tells the truth about what can be checked here.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { doctorCommand } from '../../infra/cli/doctor/command.ts';
import StowagePlugin from '../../infra/plugin/index.ts';

const text = await readFile(new URL('../../infra/README.md', import.meta.url), 'utf8');
const plugin = new StowagePlugin(
  {
    serviceDir: '.',
    service: {} as never,
    classes: { Error: Error },
    processedInput: { commands: [] },
    configurationInput: {},
    configSchemaHandler: { defineProvider: () => {}, defineFunctionEvent: () => {} },
    setProvider: () => {},
  },
  {},
);

test('the page leads from empty accounts to a comparison in five commands', () => {
  const commands = /```sh\n([^]*?)```/.exec(text)![1]!.trim().split('\n');
  expect(commands.length).toBeLessThanOrEqual(5);
  expect(commands.at(-1)).toBe('npx serverless compare');
});

test('the page names commands that exist', () => {
  const named = new Set([...text.matchAll(/npx serverless ([a-z]+)/g)].map((match) => match[1]!));
  const hooked = Object.keys(plugin.hooks).map((hook) => hook.replace(/^before:/, '').split(':')[0]!);
  expect([...named].filter((command) => !hooked.includes(command))).toEqual([]);
});

test('the page names options that exist', () => {
  const options = Object.values(plugin.commands).flatMap((command) => Object.keys(command.options));
  const named = [...text.matchAll(/`(?:npx serverless [^`]*)?--([a-z-]+)/g)].map((match) => match[1]!);
  const known = new Set([...options, ...Object.keys(doctorCommand.declared.options), 'param', 'stage', 'endpoints']);
  expect(named.filter((option) => !known.has(option))).toEqual([]);
});
