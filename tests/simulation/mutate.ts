// Mutants: small changes to the engine's sources, each of which breaks a rule. They lie in the folder `mutants` as patches of their own;
// the engine has no switch for them. A patched source exists only in the process that asked for it.
import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const FOLDER = new URL('mutants/', import.meta.url);
const ROOT = new URL('../../', import.meta.url);

/** One text of one source, and what takes its place. */
export interface Patch {
  /** Path from the root of the project. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  /** The rule or invariant it breaks, as shared/DESIGN.md numbers them. */
  readonly breaks: string;
  readonly what: string;
  /** The test that catches it, where the seeds of a run seldom would; undefined: seeds must. */
  readonly test: string | undefined;
  readonly patches: readonly Patch[];
}

export function mutantNames(): string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.patch'))
    .map((name) => name.slice(0, -'.patch'.length))
    .sort();
}

/**
 * Reads `mutants/NAME.patch`: a line `breaks: ...`, a line `what: ...`, a line `test: FILE` where a test is to catch it, then for each place
 * `--- FILE`, lines of the source that begin with `-`, and what replaces them, beginning with `+`.
 */
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

/** The text with the patch applied. Throws, naming mutant and file, unless the text to find stands there exactly once. */
export function patched(text: string, { file, find, replace }: Patch, mutant: string): string {
  const places = text.split(find).length - 1;
  if (places === 1) return text.replace(find, () => replace);
  throw new Error(`the mutant "${mutant}" no longer applies: ${file} holds ${places} times, not once:\n${find}`);
}

/** Throws unless each patch of the mutant applies to the sources as they are. */
export function checkApplies(mutant: Mutant): void {
  const texts = new Map<string, string>();
  for (const patch of mutant.patches) {
    const text = texts.get(patch.file) ?? readFileSync(new URL(patch.file, ROOT), 'utf8');
    texts.set(patch.file, patched(text, patch, mutant.name));
  }
}

/** From now on this process loads the sources as the mutant has them. To be called before they are imported. */
export function mutate(name: string): void {
  const mutant = readMutant(name);
  checkApplies(mutant);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const patches = mutant.patches.filter(({ file }) => url === new URL(file, ROOT).href);
      if (patches.length === 0) return loaded;
      const source = readFileSync(fileURLToPath(url), 'utf8');
      return { ...loaded, source: patches.reduce((text, patch) => patched(text, patch, name), source) };
    },
  });
}
