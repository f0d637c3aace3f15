// What providers and series are called before people, and their colours: the same in every table and chart.
import type { Layout, Provider } from './cell.ts';

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Google Cloud Datastore',
  'azure-tables': 'Azure Table Storage',
};

export const PROVIDER_SHORT_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Datastore',
  'azure-tables': 'Azure',
};

/** Warm for Google, blue for Azure; the darker, the more records an entity or a request holds. */
export const COLOURS: Readonly<Record<Provider, Readonly<Record<Layout, string>>>> = {
  datastore: { record: '#f2b47e', batch: '#e07b30', container: '#9c3a12' },
  'azure-tables': { record: '#8fc1e8', batch: '#3b86c8', container: '#12487f' },
};
