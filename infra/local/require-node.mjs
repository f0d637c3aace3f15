// The first line of every npm script: says plainly when Node.js is too old. Older versions cannot even parse what comes after, so this
// file is plain JavaScript for all of them.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `Stowage needs Node.js 22.18 or newer; this is ${process.versions.node}.\n` +
      'npm ci brings a newer one along, as the package `node`: run `npm ci` first, and then npm scripts use it.\n' +
      'If npm ci was told to ignore install scripts, run `npm rebuild node` once, or install Node.js 24 yourself.',
  );
  process.exit(1);
}
