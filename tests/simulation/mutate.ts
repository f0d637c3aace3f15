// Mutants: patches, each of which breaks a rule, in the process alone that asked for one.
import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const FOLDER = new URL('mutants/', import.meta.url);
const ROOT = new URL('../../', import.meta.url);

/** A text of a source, and its replacement. */
export interface Patch {
  /** Path from the root of the project. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  /** The rule or invariant that it breaks, by its number in shared/DESIGN.md. */
  readonly breaks: string;
  readonly what: string;
  /** The test that catches it; undefined: seeds catch it. */
  readonly test: string | undefined;
  readonly patches: readonly Patch[];
}

export function mutantNames(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.patch'))
    .map((name) => name.slice(0, -'.patch'.length))
    .sort();
}

/** Reads `breaks:`, `what:`, `test:`, then for each `--- FILE` lines after `-` and after `+`. */
export function readMutant(name: string): Mutant {
  const text = readFileSync(new URL(`${name}.patch`, FOLDER), 'utf8');
  const [head = '', ...places] = text.split(/^--- /m);
  const patches = places.map((place): Patch => {
    const [file = '', ...lines] = place.split('\n');
    const marked = (mark: string): string =>
      lines
        .filter((line) => line.startsWith(mark))
        .map((line) => line.slice(1))
        .join('\n');
    return { file, find: marked('-'), replace: marked('+') };
  });
  const field = (key: string): string => new RegExp(`^${key}: (.+)$`, 'm').exec(head)?.[1] ?? '';
  const test = field('test') === '' ? undefined : field('test');
  const mutant = { name, breaks: field('breaks'), what: field('what'), test, patches };
  if (mutant.breaks === '' || mutant.what === '' || patches.length === 0 || patches.some(({ find }) => find === ''))
    throw new Error(`mutants/${name}.patch lacks "breaks:", "what:", or a place to change`);
  return mutant;
}

/** Applies the patch. Throws, naming mutant and file, unless `find` stands there exactly once. */
function patched(text: string, { file, find, replace }: Patch, mutant: string): string {
  const places = text.split(find).length - 1;
  if (places === 1) return text.replace(find, () => replace);
  throw new Error(`the mutant "${mutant}" no longer applies: ${file} holds ${places} times, not once:\n${find}`);
}

/** The mutant's text of a source; its own where nothing is to be changed. */
export function mutated({ name, patches }: Mutant, file: string, source: string): string {
  return patches.filter((patch) => patch.file === file).reduce((text, patch) => patched(text, patch, name), source);
}

/** Throws unless every patch applies to the present sources. */
export function checkApplies(mutant: Mutant): void {
  for (const file of new Set(mutant.patches.map((patch) => patch.file)))
    mutated(mutant, file, readFileSync(new URL(file, ROOT), 'utf8'));
}

/** This process loads the mutant's sources from now on. Call it before they are imported. */
export function mutate(name: string): void {
  const mutant = readMutant(name);
  checkApplies(mutant);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!mutant.patches.some(({ file }) => url === new URL(file, ROOT).href)) return loaded;
      return { ...loaded, source: mutated(mutant, url.replace(ROOT.href, ''), readFileSync(new URL(url), 'utf8')) };
    },
  });
}
