// Opens the driver of Google Cloud Datastore (Firestore in Datastore mode); datastore/driver.ts is the driver itself.
import type { Driver } from '../store/contract/driver.ts';
import { BOOLEAN, objectWith, optionsOf, STRING } from '../store/contract/check-options.ts';
import { addressLike, checkSecure, disposable, isAddress, textLike } from './common/factory.ts';
import { type ClientOptions, datastoreCalls } from './datastore/client.ts';
import { driverOn } from './datastore/driver.ts';
import { EMULATOR_LIMITS, LIMITS } from './datastore/mapping.ts';

export interface DatastoreOptions extends ClientOptions {
  /** Default: the default namespace. */
  readonly namespace?: string;
  /** Kind of all entities. Default `Container`. */
  readonly kind?: string;
  /** Allows an `http:` endpoint on another machine. Default false: on this one alone. */
  readonly allowInsecureConnection?: boolean;
}

const ADDRESS = addressLike('http://127.0.0.1:8081 for an emulator');
const FILLED = textLike('a string that is not empty', /./);

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

/** No I/O. Throws a TypeError for misuse, such as an `http:` endpoint on another machine that is not allowed. */
export function datastoreDriver(options: DatastoreOptions): Driver & AsyncDisposable {
  check(options);
  if (options.endpoint !== undefined) checkSecure('datastoreDriver', options.endpoint, options.allowInsecureConnection);
  const { projectId, databaseId = '', namespace = '', kind = 'Container', endpoint } = options;
  const limits = endpoint?.toLowerCase().startsWith('http:') === true ? EMULATOR_LIMITS : LIMITS;
  const space = { projectId, databaseId, namespace, kind };
  return disposable(driverOn(datastoreCalls(options), { space, limits, doubtful: endpoint !== undefined }));
}
