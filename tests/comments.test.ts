// A line of a comment is narrow enough to be read in one go.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const COLUMNS_MAX = 100;

test('a line of a comment has at most 100 columns', () => {
  const files = globSync('{functions,infra,shared,tests}/**/*.{ts,mjs,tf}', { cwd: ROOT }).filter(
    (file) => !/(^|[/\\])(\.terraform|\.build|dist|node_modules)[/\\]|shared[/\\]client[/\\]openapi\.ts$/.test(file),
  );
  expect(files.flatMap(wideComments)).toEqual([]);
});

/** The places of lines that hold nothing but comment, and are too long. */
function wideComments(file: string): string[] {
  const isComment = file.endsWith('.tf') ? /^\s*#/ : /^\s*(\/\/|\/\*|\*( |\/|$))/;
  const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
  return lines.flatMap((line, index) =>
    line.length > COLUMNS_MAX && isComment.test(line) ? [`${file}:${index + 1}`] : [],
  );
}
