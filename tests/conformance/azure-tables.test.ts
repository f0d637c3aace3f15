import { AzureNamedKeyCredential } from '@azure/data-tables';
import {
  AZURITE_ACCOUNT_KEY,
  AZURITE_ACCOUNT_NAME,
  startAzurite,
  startStrictAzurite,
} from '../../infra/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { conformance } from './conformance.ts';

const azurite = await startAzurite({ inProcess: true });
const strict = await startStrictAzurite();

function driverAt(endpoint: string) {
  return azureTablesDriver({
    endpoint,
    tableName: 'conformance',
    credential: new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY),
  });
}

conformance('azure-tables on Azurite in process', {
  open: () => driverAt(azurite.endpoint),
  end: () => azurite.close(),
  atomic: true,
  deviations: [
    {
      case: 'a patch whose result would be far too large is refused for its limit and changes nothing',
      reason: 'Azurite does not check the size that a merge results in; the engine keeps account of it',
    },
  ],
});

conformance('azure-tables on Azurite behind the strict front', {
  open: () => driverAt(strict.endpoint),
  end: () => strict.close(),
  atomic: true,
  deviations: [],
});
