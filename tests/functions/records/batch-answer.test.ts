// The answer to a batch: how often its records are converted, and what else may run meanwhile.
import { expect, test } from 'vitest';
import { Memory } from '../../../functions/http/body-memory.ts';
import { type AnswerWay, batchAnswer, type Outcome } from '../../../functions/records/batch.ts';
import type { Operation } from '../../../functions/records/batch-body.ts';
import { JSON_TYPE, MSGPACK, packr } from '../suite/http-client.ts';

const VALUE = { codec: 'msgpack', bytes: packr.pack('x'.repeat(100_000)) } as const;

function found(key: string): Outcome {
  return { status: 'found', key, version: 'v', expiresAtMs: undefined, value: VALUE };
}

function answerOf(outcomes: readonly Outcome[], way: Omit<AnswerWay, 'memory'> & Partial<AnswerWay>) {
  const operations = outcomes.map(({ key }): Operation => ({ op: 'get', key }));
  return batchAnswer(operations, outcomes, { memory: new Memory().share(), ...way });
}

/** Aborts when other requests get their first turn. */
function atFirstTurn(): AbortSignal {
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  return controller.signal;
}

async function statusesOf(outcomes: readonly Outcome[], mediaType: string) {
  const { answer } = await answerOf(outcomes, { mediaType, signal: atFirstTurn() });
  const read = mediaType === JSON_TYPE ? JSON.parse(Buffer.from(answer).toString()) : packr.unpack(answer);
  return (read as { outcomes: { status: string; problem?: { code: string } }[] }).outcomes.map(
    ({ status, problem }) => problem?.code ?? status,
  );
}

test.each([JSON_TYPE, MSGPACK])(
  'an answer in %s lets other requests run between large records, and stops at its deadline',
  async (mediaType) => {
    const written = { status: 'written', key: 'w', version: 'v' } as const;
    const outcomes = [found('a'), found('b'), written, found('c')];
    expect(await statusesOf(outcomes, mediaType)).toEqual(['found', 'aborted', 'written', 'aborted']);
  },
);

test('a record that is asked for often is converted once', async () => {
  const one = found('a');
  const outcomes = Array.from({ length: 100 }, () => one);
  expect(new Set(await statusesOf(outcomes, JSON_TYPE))).toEqual(new Set(['found']));
});
