// Builds the one page of the comparison (shared/lab/page) as a single HTML file. Its functions
// serve it, and the command line puts a report into it.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import type { Provider } from '../../shared/lab/kit/dimensions.ts';

const STYLESHEET = '<link rel="stylesheet" href="page.css" />';
const SCRIPT = '<script src="page-entry.ts"></script>';
const PROVIDER = 'data-provider=""';

const fileOf = (name: string): string => fileURLToPath(new URL(`../../shared/lab/page/${name}`, import.meta.url));

/**
 * The live page of the provider's function; without a provider of none, for a report to be put in.
 * Throws if the script does not build.
 */
export async function pageText(provider: Provider | '' = ''): Promise<string> {
  const [template, style, script] = await Promise.all([
    readFile(fileOf('page.html'), 'utf8'),
    readFile(fileOf('page.css'), 'utf8'),
    (built ??= bundle(fileOf('page-entry.ts'))),
  ]);
  const parts: readonly (readonly [mark: string, text: string])[] = [
    [STYLESHEET, `<style>${style}</style>`],
    [SCRIPT, `<script>${script}</script>`],
    [PROVIDER, `data-provider="${provider}"`],
  ];
  return parts.reduce((page, [mark, text]) => {
    if (!page.includes(mark)) throw new Error(`page.html has no ${mark}`);
    return page.replace(mark, () => text);
  }, template);
}

/** Both clouds' functions and the report have the same script, which takes a second to build. */
let built: Promise<string> | undefined;

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    target: 'es2024',
    minify: true,
    mainFields: ['module', 'main'],
    plugins: [WITHOUT_WEB_ASSEMBLY],
    logLevel: 'warning',
  });
  return outputFiles[0]!.text;
}

/** The histograms' second implementation, which the page does not use, is a sixth of its script. */
const WITHOUT_WEB_ASSEMBLY: Plugin = {
  name: 'without-web-assembly',
  setup: (build) =>
    build.onLoad({ filter: /\/hdr-histogram-js\/dist\/wasm\/index\.js$/ }, () => ({
      contents: 'exports.WasmHistogram = class {};',
    })),
};
