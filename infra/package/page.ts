// Builds the live page as one HTML file. It runs the command line's coordinator and report.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import type { Provider } from '../../shared/lab/kit/dimensions.ts';

const STYLESHEET = '<link rel="stylesheet" href="page/page.css" />';
const SCRIPT = '<script src="page/main.ts"></script>';
const PROVIDER = 'data-provider=""';

/** A file in each form that the function hands out. */
export interface PageFiles {
  readonly html: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

/** `folder` has page.html and page/. Throws if the script does not build. */
export async function buildPage(folder: string, provider: Provider): Promise<PageFiles> {
  const html = Buffer.from(await pageText(folder, provider));
  return { html, br: brotliCompressSync(html), gzip: gzipSync(html, { level: 9 }) };
}

async function pageText(folder: string, provider: Provider): Promise<string> {
  const [template, style, script] = await Promise.all([
    readFile(path.join(folder, 'page.html'), 'utf8'),
    readFile(path.join(folder, 'page/page.css'), 'utf8'),
    bundled(path.join(folder, 'page/main.ts')),
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

/** Both clouds' functions have the same script, which takes a second or two to build. */
const scripts = new Map<string, Promise<string>>();

function bundled(entry: string): Promise<string> {
  const known = scripts.get(entry) ?? bundle(entry);
  scripts.set(entry, known);
  return known;
}

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
