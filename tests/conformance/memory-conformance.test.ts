import { memoryDriver, memoryState } from '../../shared/drivers/memory.ts';
import { conformance } from './declare-conformance.ts';

const state = memoryState();

conformance('memory', { open: () => memoryDriver({ state }), isAtomic: false, deviations: [] });
