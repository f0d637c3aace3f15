// The way in of `npm run dev`: imports what older versions of Node.js cannot parse only once the version is known to do.
import './require-node.mjs';

await import('./dev.ts');
