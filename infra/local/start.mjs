// The way in of `npm start`. Older versions of Node cannot even parse what comes after, so this file is plain JavaScript for all of
// them, and imports the rest only where it runs.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 18)) {
  await import('./start.ts');
} else {
  console.error(
    `Stowage needs Node.js 22.18 or newer; this is ${process.versions.node}.\n` +
      'npm ci brings a newer one along, as the package `node`: run `npm ci` and then `npm start`, which uses it.\n' +
      'If npm ci was told to ignore install scripts, run `npm rebuild node` once, or install Node.js 24 yourself.',
  );
  process.exitCode = 1;
}
