// Makes Google's own client. An instance loads this file only if it sends over the SDK.
import { Datastore, type DatastoreOptions } from '@google-cloud/datastore';

/** Without credentials in the options the client looks for them as Google's libraries do. */
export function sdkClient(options: DatastoreOptions): Datastore {
  return new Datastore(options);
}
