// Entry of the npm scripts: `node infra/run.mjs start|dev|...`. Says when Node.js is too old.
// Older versions cannot parse TypeScript, so this is JavaScript and imports commands afterwards.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `Stowage needs Node.js 22.18 or newer; this is ${process.versions.node}.\n` +
      'npm ci brings a newer one along, as the package `node`: run `npm ci` first, and then npm scripts use it.\n' +
      'If npm ci was told to ignore install scripts, run `npm rebuild node` once, or install Node.js 24 yourself.',
  );
  process.exit(1);
}

const COMMANDS = {
  start: () => import('./start/start.ts'),
  scale: () => import('./lab/scale/scale.ts'),
  growth: () => import('./lab/growth.ts'),
  figures: () => import('./lab/figures.ts'),
  emulators: () => import('./emulators/start-emulators.ts'),
  dev: () => import('./start/dev.ts'),
};
// The other arguments are the command's own.
const [name] = process.argv.splice(2, 1);
if (name !== undefined) {
  const run = COMMANDS[name];
  if (run === undefined) {
    console.error(`there is no command "${name}", but ${Object.keys(COMMANDS).join(', ')}`);
    process.exit(2);
  }
  await run();
}
