// The function `compare` on Google Cloud: a plain function exported by name, like `records`.
import { readFileSync } from 'node:fs';
import { createCompareApp } from '../compare/app.ts';
import { cellsOn } from '../compare/cells.ts';
import { COMPARE_DEADLINES } from '../instance/config.ts';
import { once } from '../instance/lifetime.ts';
import { frameworkFunction } from './functions-framework.ts';
import { config, log } from './instance.ts';
import { targetsOf } from './targets.ts';

const targets = targetsOf(import.meta.url);

/** Cells of the comparison, and their page. */
export const compare = frameworkFunction(
  once(async () => {
    const page = readFileSync(new URL('../compare/page.html', import.meta.url), 'utf8');
    return createCompareApp({ ...config, ...COMPARE_DEADLINES, log, page, ...cellsOn(targets) });
  }),
);
