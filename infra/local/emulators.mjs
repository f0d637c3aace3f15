// The way in of `npm run emulators`: imports what older versions of Node.js cannot parse only once the version is known to do.
import './require-node.mjs';

await import('./emulators.ts');
