// The way in of `npm run bench`: imports what older versions of Node.js cannot parse only once the version is known to do.
import './require-node.mjs';

await import('./bench.ts');
