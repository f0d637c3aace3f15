import { levelSuite } from './level-suite.ts';
import { startStores } from './stores.ts';

const STORES = await startStores();

levelSuite(STORES.slice(1));
