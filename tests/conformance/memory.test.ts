import { memoryDriver, memoryState } from '../../shared/drivers/memory.ts';
import { conformance } from './conformance.ts';

const state = memoryState();

conformance('memory', { open: () => memoryDriver({ state }), isAtomic: false, deviations: [] });
