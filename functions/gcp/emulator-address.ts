/** The address of the Datastore emulator that the environment names, if it names one. */
export function emulatorIn(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const host = env['DATASTORE_EMULATOR_HOST'] ?? '';
  if (host === '') return undefined;
  return /^https?:\/\//i.test(host) ? host : `http://${host}`;
}
