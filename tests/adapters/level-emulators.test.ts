import { levelSuite } from './level-suite.ts';
import { STORES } from './stores.ts';

levelSuite(STORES.slice(1));
