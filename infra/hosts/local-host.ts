// A local host is a supervised child on 127.0.0.1, ready when its health answers.
import { fileURLToPath } from 'node:url';
import { answersOk, freePort, startSupervised, type Supervised, untilReady } from '../processes/supervised.ts';

/** Its output is the function's log. */
export interface FunctionHost extends Supervised {
  /** `http://127.0.0.1:port`, without a slash at the end. */
  readonly url: string;
}

/** The function's environment; of this process's own it gets only what Node and a proxy need. */
export type HostEnv = Readonly<Record<string, string>>;

export interface HostOptions {
  /** A package, unpacked. */
  readonly bundleDir: string;
  readonly env: HostEnv;
  /** Default: a free one. */
  readonly port?: number | undefined;
}

const READY_TIMEOUT_MS = 30_000;
const LOOPBACK = fileURLToPath(new URL('loopback.ts', import.meta.url));
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'];

/** Runs `node args` with PORT set. Throws, with its output, if the port is taken or after 30 s. */
export async function startHost(
  name: string,
  args: readonly string[],
  env: HostEnv,
  wantedPort?: number,
): Promise<FunctionHost> {
  const port = await freePort(wantedPort);
  const inherited = Object.fromEntries(
    INHERITED.flatMap((key) => (process.env[key] === undefined ? [] : [[key, process.env[key]]])),
  );
  const childEnv = { ...inherited, ...env, PORT: String(port) };
  const child = startSupervised(process.execPath, ['--import', LOOPBACK, ...args], childEnv);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(name, child, () => answersOk(`${url}/v1/health`), READY_TIMEOUT_MS);
  return { ...child, url };
}
