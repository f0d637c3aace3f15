// Document A's table compressed: bytes, and what compressing and expanding add to encoding and decoding.
import type { ExperimentContext } from '../../experiment.ts';
import { alternatingRuns, type Variant } from '../../rounds.ts';
import type { Column, FigureTable, Row } from '../../results.ts';
import { BSON, CBOR, type Codec, JS_YAML, JSON_TEXT, MSGPACK, sharedStructures, V8 } from '../codecs/codecs.ts';
import { type CompressionMethod, COMPRESSIONS, PLAIN } from '../codecs/compressions.ts';
import { csv } from '../codecs/csv.ts';
import { typicalMs } from '../codecs/typical.ts';
import { listRows, namedRows, ROUNDS } from './six-columns.ts';

const BASELINE = rowId(JSON_TEXT, PLAIN);

const COLUMNS: readonly Column[] = [
  { id: 'bytes', unit: 'bytes' },
  { id: 'compress', unit: 'ms' },
  { id: 'expand', unit: 'ms' },
].map(({ id, unit }) => ({ id, era: 'now', measure: id, where: 'node:zlib', unit, better: 'lower' }));

interface Way {
  readonly codec: Codec;
  readonly compression: CompressionMethod;
  readonly bytes: Uint8Array;
}

/** Every format with every compression; then printed none, though it said that ZIP makes a container smaller. */
export async function compressedTable(context: ExperimentContext, count: number): Promise<FigureTable> {
  const ways = waysOf(count);
  const cells = await alternatingRuns(context, { rounds: ROUNDS }, ways.map(compressionVariant));
  return {
    id: `compressed-${count}`,
    title: `${count.toLocaleString('en-US')} rows, compressed`,
    about:
      "Bytes, and the processor time that compressing and expanding take beside encoding and decoding. The document said that ZIP makes a container smaller, and printed no figures. All its rows are equal, so that they compress far better than real ones: the store's own table below has real text. Shared structures have the rows with names.",
    columns: COLUMNS,
    rows: ways.map(({ codec, compression }): Row => ({
      id: rowId(codec, compression),
      name: compression === PLAIN ? codec.name : `${codec.name} + ${compression.name}`,
      against: BASELINE,
      figures: cells.get(rowId(codec, compression)) ?? {},
    })),
    charted: count === 10_000 ? ['bytes'] : [],
  };
}

function waysOf(count: number): Way[] {
  const lists = listRows(count);
  const shared = sharedStructures();
  const encoded = [
    ...[JSON_TEXT, MSGPACK, V8, CBOR, csv('list'), JS_YAML, BSON].map((codec) => ({ codec, value: lists })),
    { codec: shared, value: namedRows(count) },
  ];
  return encoded.flatMap(({ codec, value }) => {
    const bytes = Uint8Array.from(codec.encode(value));
    return COMPRESSIONS.map((compression) => ({ codec, compression, bytes }));
  });
}

function compressionVariant({ codec, compression, bytes }: Way): Variant {
  return {
    row: rowId(codec, compression),
    columns: compression === PLAIN ? ['bytes'] : ['bytes', 'compress', 'expand'],
    run: () => {
      const small = compression.compress(bytes);
      if (!Buffer.from(bytes).equals(compression.expand(small))) throw new Error('the bytes do not come back the same');
      const timed = {
        compress: typicalMs(() => compression.compress(bytes)),
        expand: typicalMs(() => compression.expand(small)),
      };
      return Promise.resolve(compression === PLAIN ? { bytes: bytes.length } : { bytes: small.length, ...timed });
    },
  };
}

function rowId(codec: Codec, compression: CompressionMethod): string {
  return `${codec.id}+${compression.id}`;
}
