// The numbers that a cell is played with.
import type { Provider } from '../../kit/dimensions.ts';
import { AZURE_TABLES_2026_11 } from '../data/azure-tables-2026-11.ts';
import { DATASTORE_2026_11 } from '../data/datastore-2026-11.ts';
import type { ProviderData } from '../data/parameters.ts';
import { PROCESSOR_2026_11_24 } from '../data/processor-2026-11-24.ts';
import type { ProcessorTable } from '../data/processor.ts';

export const PROVIDER_DATA: Readonly<Record<Provider, ProviderData>> = {
  datastore: DATASTORE_2026_11,
  'azure-tables': AZURE_TABLES_2026_11,
};

/** Processor costs, on the machine that the table names. */
export const PROCESSOR_DATA: ProcessorTable = PROCESSOR_2026_11_24;
