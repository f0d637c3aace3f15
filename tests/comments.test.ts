// Comments are read once: short, narrow, subject first.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const COLUMNS_MAX = 100;
const WORDS_MAX = 30;
/** The public interface states shapes, units, defaults, errors and round trips. */
const PUBLIC = /^shared\/(store\/contract|(drivers|adapters)\/[^/]+\.ts:)/;
const PUBLIC_WORDS_MAX = 80;

interface Comment {
  readonly at: string;
  readonly text: string;
}

const files = globSync('{functions,infra,shared,tests}/**/*.{ts,mjs,tf}', { cwd: ROOT })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => !/(^|\/)(\.terraform|\.build|dist)\//.test(file));
const comments = files.flatMap((file) => commentsOf(file, readFileSync(path.join(ROOT, file), 'utf8')));

test('a line of a comment has at most 100 columns', () => {
  const wide = comments.filter(({ text }) => text.split('\n').some((line) => line.length > COLUMNS_MAX));
  expect(wide.map(({ at }) => at)).toEqual([]);
});

test('a comment has at most 30 words, unless it states a rule or the public interface', () => {
  const long = comments.filter(({ at, text }) => wordsOf(text).length > wordsMax(at) && !/\brules? \d/i.test(text));
  expect(long.map(({ at, text }) => `${at}: ${wordsOf(text).length} words`)).toEqual([]);
});

test('a sentence begins with its subject or its verb', () => {
  const opening = /(?:^|[.:;] )(What|Who|Whose|Those|Of|Where|So (?:many|much|long|often|few))\b/;
  const wrong = comments.filter(({ text }) => opening.test(wordsOf(text).join(' ')));
  expect(wrong.map(({ at, text }) => `${at}: ${wordsOf(text).slice(0, 8).join(' ')}`)).toEqual([]);
});

function wordsMax(at: string): number {
  return PUBLIC.test(at) ? PUBLIC_WORDS_MAX : WORDS_MAX;
}

/** Neighbouring lines that hold nothing but comment, as one. Comments behind code are left out. */
function commentsOf(file: string, source: string): Comment[] {
  const found: Comment[] = [];
  let lines: string[] = [];
  const isComment = file.endsWith('.tf') ? /^\s*#/ : /^\s*(\/\/|\/\*|\*( |\/|$))/;
  source.split('\n').forEach((line, index) => {
    const isStart = /^\s*\/\*/.test(line);
    if (lines.length > 0 && (isStart || !isComment.test(line))) {
      found.push({ at: `${file}:${index + 1 - lines.length}`, text: lines.join('\n') });
      lines = [];
    }
    if (isComment.test(line)) lines.push(line);
  });
  return found;
}

function wordsOf(comment: string): string[] {
  const text = comment.replaceAll(/^\s*(\/\*\*?|\*\/|\*|\/\/|#)/gm, '').replaceAll('*/', '');
  return text.split(/\s+/).filter((word) => /\w/.test(word));
}
