// `npm run check`: looks at the sources without running them, and prints each check's output as it
// ends. A command given to it runs beside: the tests, by `npm test`.
import { exec, spawn } from 'node:child_process';

// Taken away before run.mjs reads a command of its own there.
const beside = process.argv.splice(2).join(' ');
await import('./run.mjs');

const fail = () => (process.exitCode = 1);

for (const name of ['format:check', 'lint', 'typecheck', 'dead-code'])
  exec(`npm run --silent ${name}`, { maxBuffer: Infinity }, (error, stdout, stderr) => {
    const failed = `FAILED: npm run ${name}`;
    console.log(error ? `${failed}\n${stdout}${stderr}` : `passed: npm run ${name}`);
    if (!error) return;
    fail();
    // Once more, where the output of the tests has ended.
    process.once('exit', () => console.log(failed));
  });
if (beside !== '')
  spawn(beside, { shell: true, stdio: 'inherit' }).once('exit', (code) => {
    if (code !== 0) fail();
  });
