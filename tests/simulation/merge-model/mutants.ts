// Breaks the model's rules one by one. The model overlooks a rule whose mutant is not caught. Rules
// and letters are those of shared/DESIGN.md.

interface Mutant {
  readonly name: string;
  readonly rule: string;
  readonly what: string;
  /** Random walks, or the script of that name if walks hardly ever catch it. */
  readonly caughtBy: 'walks' | { readonly script: string };
}

const walks = 'walks';

export const MUTANTS = [
  { name: 'links-on-another-base', rule: '8', what: 'a split is tried again with the same new leaf', caughtBy: walks },
  {
    name: 'links-unacknowledged-leaves',
    rule: '9',
    what: 'a link is written although the insert is unknown',
    caughtBy: walks,
  },
  {
    name: 'announces-before-the-link',
    rule: '12',
    what: 'a new leaf is remembered, and the branch told, before it is linked',
    caughtBy: walks,
  },
  {
    name: 'fences-no-origin',
    rule: '14 (a)',
    what: 'an orphan goes though its split may still land',
    caughtBy: { script: 'vacuum comes between insert and link' },
  },
  {
    name: 'any-leaf-ends-the-walk',
    rule: '14 (b)',
    what: 'a leaf that is not live proves that nothing links an orphan',
    caughtBy: walks,
  },
  {
    name: 'a-gap-proves-it',
    rule: '14 (b)',
    what: 'a missing leaf proves that nothing links an orphan',
    caughtBy: walks,
  },
  {
    name: 'missed-twice-is-corrupt',
    rule: '15',
    what: 'an entry that names a missing leaf twice ends in "corrupt"',
    caughtBy: walks,
  },
  { name: 'retires-the-leftmost', rule: '26', what: 'the leftmost leaf is retired too', caughtBy: walks },
  { name: 'writes-to-a-retired-leaf', rule: '26', what: 'a put commits to a retired leaf', caughtBy: walks },
  { name: 'splits-a-retired-leaf', rule: '26', what: 'a retired leaf is split', caughtBy: walks },
  {
    name: 'revives-a-retired-leaf',
    rule: '26',
    what: 'a merge that is given up makes the leaf live again',
    caughtBy: walks,
  },
  {
    name: 'absorbs-into-a-retired-leaf',
    rule: '27',
    what: 'the left leaf takes in though it has retired',
    caughtBy: walks,
  },
  {
    name: 'absorbs-on-any-version',
    rule: '27',
    what: 'the left leaf takes in though it links another leaf',
    caughtBy: walks,
  },
  {
    name: 'absorbs-what-was-live',
    rule: '27',
    what: 'the content is taken in without retiring the leaf',
    caughtBy: walks,
  },
  {
    name: 'keeps-its-own-next-number',
    rule: '27',
    what: 'the left leaf counts on from its own next number',
    caughtBy: walks,
  },
  {
    name: 'miss-after-a-frozen-link-is-corrupt',
    rule: '28 (a)',
    what: 'a miss behind a retired leaf ends in "corrupt"',
    caughtBy: { script: 'a retired leaf links to one that is gone' },
  },
  {
    name: 'a-miss-by-links-is-corrupt',
    rule: '28 (a)',
    what: 'a search does not read the live leaf again that led to a missing one',
    caughtBy: { script: 'two retired leaves on the way of a search are absorbed, and one is removed' },
  },
  {
    name: 'serves-what-an-entry-named',
    rule: '28 (b)',
    what: 'a retired leaf answers to whom an entry led there',
    caughtBy: walks,
  },
  {
    name: 'serves-by-a-remembered-leaf',
    rule: '28 (b)',
    what: 'a retired leaf answers to whom a remembered leaf led there',
    caughtBy: { script: 'a remembered leaf links to a retired one' },
  },
  {
    name: 'serves-by-a-live-link-alone',
    rule: '28 (b)',
    what: 'a retired leaf behind a retired leaf does not answer',
    caughtBy: { script: 'two neighbours are retired, and both mergers are dead' },
  },
  {
    name: 'serves-a-stripped-leaf',
    rule: '28 (b)',
    what: 'a stripped leaf answers, as if it were empty',
    caughtBy: { script: 'a leaf is stripped on the way of a get' },
  },
  {
    name: 'searches-at-the-low',
    rule: '28 (c)',
    what: 'the search takes the entry at the bound itself',
    caughtBy: walks,
  },
  { name: 'bound-stays', rule: '28 (c)', what: 'the bound does not move when a dead leaf is met', caughtBy: walks },
  {
    name: 'searches-by-the-remembered-branch',
    rule: '28 (c)',
    what: 'the search does not read the branch',
    caughtBy: walks,
  },
  { name: 'walks-by-memory', rule: '28 (c)', what: 'the search does not read the leaves on its way', caughtBy: walks },
  { name: 'waits-for-the-merger', rule: '28 (d)', what: 'a writer does not finish the pair', caughtBy: walks },
  {
    name: 'routes-again-after-helping',
    rule: '28 (d)',
    what: 'a writer routes anew when the search has ended',
    caughtBy: walks,
  },
  {
    name: 'a-search-ends-in-corrupt',
    rule: '28 (e)',
    what: 'a second round of a search ends in "corrupt"',
    caughtBy: { script: 'the leaf where a search began retires' },
  },
  { name: 'keeps-entries-that-lead-astray', rule: '29', what: 'entries are never set anew', caughtBy: walks },
  {
    name: 'keeps-overtaken-entries',
    rule: '29',
    what: 'entries are set anew only if their leaf is not live',
    caughtBy: walks,
  },
  {
    name: 'repairs-to-the-owner-of-the-key',
    rule: '29',
    what: 'an entry is set to the leaf that owns the key',
    caughtBy: walks,
  },
  { name: 'repairs-unconditionally', rule: '29', what: 'an entry is set whatever it names by now', caughtBy: walks },
  { name: 'drops-no-entries', rule: '29', what: 'entries whose separator is no low stay', caughtBy: walks },
  { name: 'drops-the-first-entry', rule: '29', what: 'the first entry may go', caughtBy: walks },
  { name: 'strips-before-the-absorb', rule: '30', what: 'a retired leaf is stripped without a proof', caughtBy: walks },
  {
    name: 'removes-instead-of-stripping',
    rule: '30',
    what: 'an absorbed leaf is removed at once',
    caughtBy: { script: 'the second copy of an insert arrives when all is over' },
  },
  { name: 'strip-forgets-the-commits', rule: '30, 31', what: 'a stripped leaf has no commit ids', caughtBy: walks },
  {
    name: 'retired-means-lost',
    rule: '31',
    what: 'an attempt on a leaf that has retired is taken for lost',
    caughtBy: { script: 'a put is not answered, and its leaf retires' },
  },
  {
    name: 'missing-means-lost',
    rule: '31',
    what: 'a refused attempt on a leaf that is gone is taken for lost',
    caughtBy: { script: 'a put is falsely refused, and its leaf is gone' },
  },
] as const satisfies readonly Mutant[];

export type Breach = (typeof MUTANTS)[number]['name'];
