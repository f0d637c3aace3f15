// The emulator of Datastore that the environment names.

/** Its address. Undefined without one: an empty variable counts as absent. */
export function emulatorIn(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const host = env['DATASTORE_EMULATOR_HOST'] ?? '';
  if (host === '') return undefined;
  return /^https?:\/\//i.test(host) ? host : `http://${host}`;
}
