// Opens the driver of Google Cloud Datastore; datastore/datastore-driver.ts is the driver itself.
import type { Driver } from '../store/contract/driver.ts';
import { BOOLEAN, objectWith, optionsOf, STRING } from '../store/contract/check-options.ts';
import { addressLike, checkSecure, disposable, hasOption, isAddress, textLike } from './common/factory.ts';
import { type ClientOptions, datastoreCalls, SERVICE } from './datastore/datastore-calls.ts';
import { driverOn } from './datastore/datastore-driver.ts';
import { EMULATOR_LIMITS, LIMITS } from './datastore/entity-mapping.ts';
import { type DatastoreClient, sdkCalls, spaceOf } from './datastore/datastore-sdk.ts';

/** The driver's own transport: a project, and credentials or an endpoint. */
export interface DatastoreOptions extends ClientOptions {
  /** Default: the default namespace. */
  readonly namespace?: string;
  /** Kind of all entities. Default `Container`. */
  readonly kind?: string;
  /** Allows an `http:` endpoint on another machine. Default false: on this one alone. */
  readonly allowInsecureConnection?: boolean;
}

/** Your own client, which says project, database, namespace, credentials and endpoint. */
export interface DatastoreClientOptions {
  /**
   * A `Datastore` of @google-cloud/datastore 11 or later, over gRPC. The driver makes another of
   * the same options and credentials, but without retries, and closes that alone.
   */
  readonly client: DatastoreClient;
  /** Kind of all entities. Default `Container`. */
  readonly kind?: string;
}

const ADDRESS = addressLike('http://127.0.0.1:8081 for an emulator');
const FILLED = textLike('a string that is not empty', /./);

const checkClient = optionsOf<DatastoreClientOptions>(
  'datastoreDriver with a client',
  { client: objectWith('a Datastore', 'request_', 'getProjectId'), kind: FILLED },
  ['client'],
);

const check = optionsOf<DatastoreOptions>(
  'datastoreDriver',
  {
    projectId: FILLED,
    databaseId: STRING,
    namespace: STRING,
    kind: FILLED,
    auth: objectWith('a GoogleAuth', 'getClient'),
    endpoint: { ...ADDRESS, accepts: (value) => isAddress(value) && new URL(value).pathname === '/' },
    allowInsecureConnection: BOOLEAN,
  },
  ['projectId'],
);

/**
 * A driver over its own transport, or over `client`. No I/O; the SDK is never loaded here. Throws a
 * TypeError for misuse, such as an `http:` endpoint on another machine that is not allowed.
 */
export function datastoreDriver(options: DatastoreOptions | DatastoreClientOptions): Driver & AsyncDisposable {
  if (hasOption(options, 'client')) return driverOverClient(options);
  check(options);
  if (options.endpoint !== undefined) checkSecure('datastoreDriver', options.endpoint, options.allowInsecureConnection);
  const { projectId, databaseId = '', namespace = '', kind = 'Container', endpoint } = options;
  const limits = endpoint?.toLowerCase().startsWith('http:') === true ? EMULATOR_LIMITS : LIMITS;
  const space = { projectId, databaseId, namespace, kind };
  const at = { ...limits, address: new URL(endpoint ?? SERVICE).origin };
  return disposable(driverOn(datastoreCalls(options), { space, limits: at, doubtful: endpoint !== undefined }));
}

function driverOverClient(options: DatastoreClientOptions): Driver & AsyncDisposable {
  checkClient(options);
  const { client, kind = 'Container' } = options;
  const { isService, address, ...place } = spaceOf(client);
  const limits = { ...(isService ? LIMITS : EMULATOR_LIMITS), address };
  return disposable(driverOn(sdkCalls(client), { space: { ...place, kind }, limits, doubtful: !isService }));
}
