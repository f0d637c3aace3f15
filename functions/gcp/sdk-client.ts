// Google's own client, in a file of its own: an instance loads it only if it sends over the SDK.
import { Datastore, type DatastoreOptions } from '@google-cloud/datastore';

/** Without credentials in the options the client looks for them as Google's libraries do. */
export function sdkClient(options: DatastoreOptions): Datastore {
  return new Datastore(options);
}
