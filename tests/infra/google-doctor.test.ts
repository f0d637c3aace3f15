// `stowage doctor` on Google's emulator, where Java is installed.
import { expect, inject, test } from 'vitest';
import { placeAt } from '../../infra/cli/doctor/cloud-places.ts';
import { examine } from '../../infra/cli/doctor/examine.ts';

const ask = () => Promise.reject(new Error('no tool is asked'));
const endpoint = inject('firestoreEndpoint');

test.skipIf(endpoint === '')('Google’s emulator keeps every promise over both transports', async () => {
  const env = { DATASTORE_EMULATOR_HOST: endpoint.replace('http://', '') };
  const place = await placeAt('--on', 'gcp://stowage-doctor', { ask, env });
  const options = { requests: 2, signal: new AbortController().signal, onLeft: () => {} };
  const { transports, broken, left } = await examine(place, options);
  expect(transports.map(({ transport }) => transport)).toEqual(['own', 'sdk']);
  expect({ broken, left }).toEqual({ broken: [], left: null });
});
