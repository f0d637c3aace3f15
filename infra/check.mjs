// `npm run check`: what looks at the sources without running them. All at once; each one's output
// as it ends.
import { exec } from 'node:child_process';
import './run.mjs';

for (const name of ['format:check', 'lint', 'typecheck', 'dead-code'])
  exec(`npm run --silent ${name}`, { maxBuffer: Infinity }, (error, stdout, stderr) => {
    if (error) process.exitCode = 1;
    console.log(error ? `FAILED: npm run ${name}\n${stdout}${stderr}` : `passed: npm run ${name}`);
  });
