// Makes the folders that images of parts are built from: `.build/<cloud>-part`, each with its Dockerfile. Run as `node infra/package/jobs.ts`.
import path from 'node:path';
import { ROOT } from './bundle.ts';
import { JOBS, packageAndUnpack } from './package.ts';

for (const { dir } of await packageAndUnpack(path.join(ROOT, '.build'), JOBS)) console.log(path.relative(ROOT, dir));
