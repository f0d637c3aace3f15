import { describe, expect, test } from 'vitest';
import { AZURE_TABLES_2026_11 } from '../../../../shared/lab/cloud/data/azure-tables-2026-11.ts';
import { DATASTORE_2026_11 } from '../../../../shared/lab/cloud/data/datastore-2026-11.ts';
import { namesOf, ProviderParameters } from '../../../../shared/lab/cloud/data/parameters.ts';
import { answered, read, request, serviceOf, write } from '../service/modelled.ts';

const PROVIDERS = [DATASTORE_2026_11, AZURE_TABLES_2026_11];

describe.each(PROVIDERS)('$name', (data) => {
  test('has the same numbers as all others, each within its range', () => {
    expect(namesOf(data).toSorted()).toEqual(namesOf(DATASTORE_2026_11).toSorted());
    const wrong = namesOf(data).filter((name) => {
      const { low, middle, high } = data.figures[name];
      return !(low >= 0 && low <= middle && middle <= high);
    });
    expect(wrong).toEqual([]);
  });

  test('says of each where it comes from', () => {
    const silent = namesOf(data).filter((name) => {
      const { grade, source } = data.figures[name];
      return grade === 'guessed' ? source === '' : !/https:|^@|^as \w/.test(source);
    });
    expect(silent).toEqual([]);
  });
});

test('numbers are overridden by name, by a number or by an end of their range', () => {
  const parameters = new ProviderParameters(DATASTORE_2026_11, { 'get.baseMs': 5, 'commit.baseMs': 'high' });
  expect(parameters.get('get.baseMs')).toBe(5);
  expect(parameters.get('commit.baseMs')).toBe(DATASTORE_2026_11.figures['commit.baseMs'].high);
  expect(parameters.get('list.baseMs')).toBe(DATASTORE_2026_11.figures['list.baseMs'].middle);
});

const set = (name: string, value: number) => () => new ProviderParameters(DATASTORE_2026_11, { [name]: value });

test('a name that does not exist is refused with those that do, and so is what is no number', () => {
  expect(set('get.basMs', 5)).toThrow(/no parameter get\.basMs; there are .*get\.baseMs/);
  expect(set('get.baseMs', -1)).toThrow('a parameter is a number from 0 up: get.baseMs=-1');
  expect(set('get.baseMs', Number.NaN)).toThrow('from 0 up');
});

test('a run tells which numbers it hangs on: those that were read, and no others', async () => {
  const service = serviceOf(DATASTORE_2026_11);
  await answered(service, request('get', read('a')), () => 0);
  const { used } = service.parameters;
  expect(used).toEqual(expect.arrayContaining(['get.baseMs', 'network.oneWayMs.median']));
  expect(used).not.toContain('commit.baseMs');
  await answered(service, request('commit', write('a')), () => 0);
  expect(service.parameters.used).toContain('commit.baseMs');
});
