// Names and colours of providers and layouts, the same in every table and chart.
import type { Layout, Provider } from '../kit/dimensions.ts';

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

/**
 * Warm for Google, blue for Azure; the more records an entity or a request holds, the further from the paper's own
 * brightness. Each has a contrast of 3 to 1 with its paper at least, as WCAG 2.2 asks of graphics (1.4.11).
 */
export const PALETTES: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    datastore: {
      record: '#d27a1e',
      conditional: '#c86a2a',
      batch: '#b5500f',
      driver: '#a8730c',
      container: '#6e2508',
      'container-batch': '#4a1705',
    },
    'azure-tables': {
      record: '#4a95d6',
      conditional: '#3a86c8',
      batch: '#1f6cb0',
      driver: '#3d7f9c',
      container: '#0b3763',
      'container-batch': '#061f3a',
    },
  },
  dark: {
    datastore: {
      record: '#b5682e',
      conditional: '#c9762f',
      batch: '#e8944a',
      driver: '#c79a3a',
      container: '#ffd2ab',
      'container-batch': '#fff0e0',
    },
    'azure-tables': {
      record: '#4580b8',
      conditional: '#4f8fcb',
      batch: '#6fb0ea',
      driver: '#6fa3b8',
      container: '#c4e3fb',
      'container-batch': '#eaf5ff',
    },
  },
};

/** The charts' symbols as characters, for legends: layouts differ by more than colour. */
export const SYMBOL_CHARACTERS: Readonly<Record<ReportLayout, string>> = {
  record: '●',
  conditional: '◆',
  batch: '■',
  driver: '▼',
  container: '▲',
  'container-batch': '★',
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
