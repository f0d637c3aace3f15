// Names and colours of providers and layouts, the same in every table and chart.
import type { Layout, Provider } from '../dimensions.ts';

/** A model has one layout more: records that are read first, and written if nobody else wrote them. */
export type ReportLayout = Layout | 'conditional';

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Google Cloud Datastore',
  'azure-tables': 'Azure Table Storage',
};

export const PROVIDER_SHORT_NAMES: Readonly<Record<Provider, string>> = {
  datastore: 'Datastore',
  'azure-tables': 'Azure',
};

type Palette = Readonly<Record<Provider, Readonly<Record<ReportLayout, string>>>>;

/** Warm for Google, blue for Azure; the more records an entity or a request holds, the further from the paper's own brightness. */
export const PALETTES: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    datastore: { record: '#f2b47e', conditional: '#e8973f', batch: '#e07b30', container: '#9c3a12' },
    'azure-tables': { record: '#8fc1e8', conditional: '#5fa4da', batch: '#3b86c8', container: '#12487f' },
  },
  dark: {
    datastore: { record: '#8a4a22', conditional: '#b3602a', batch: '#dc7a32', container: '#ffc595' },
    'azure-tables': { record: '#2c5f91', conditional: '#3c7db8', batch: '#4f9bdd', container: '#b5dcfa' },
  },
};

/** A series' colour as CSS: a variable that `paletteCss` sets. */
export function colourOf(provider: Provider, layout: ReportLayout): string {
  return `var(--${provider}-${layout})`;
}

/** The declarations behind `colourOf`. */
export function paletteCss(palette: Palette): string {
  return Object.entries(palette)
    .flatMap(([provider, layouts]) =>
      Object.entries(layouts).map(([layout, colour]) => `--${provider}-${layout}: ${colour};`),
    )
    .join(' ');
}
