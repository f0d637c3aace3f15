// The numbers that a cell is played with.
import type { Provider } from '../../kit/dimensions.ts';
import { AZURE_TABLES_2026_11 } from '../data/azure-tables-2026-11.ts';
import { DATASTORE_2026_11 } from '../data/datastore-2026-11.ts';
import type { ProviderData } from '../data/parameters.ts';
import { PROCESSOR_2026_11_24 } from '../data/processor-2026-11-24.ts';
import type { ProcessorCosts, ProcessorTable } from '../data/processor.ts';
import type { ModelCell } from './cell.ts';

export const PROVIDER_DATA: Readonly<Record<Provider, ProviderData>> = {
  datastore: DATASTORE_2026_11,
  'azure-tables': AZURE_TABLES_2026_11,
};

/** Processor costs, on the machine that the table names. */
export const PROCESSOR_DATA: ProcessorTable = PROCESSOR_2026_11_24;

/** The costs of the instances' processors; undefined if they are not modelled. */
export function costsOf({ hasProcessor, provider }: ModelCell): ProcessorCosts | undefined {
  return hasProcessor ? PROCESSOR_DATA.costs[provider] : undefined;
}
