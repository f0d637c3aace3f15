import { AzureNamedKeyCredential } from '@azure/data-tables';
import { AZURITE_ACCOUNT_KEY, AZURITE_ACCOUNT_NAME, startAzurite } from '../../infra/local/emulators/azurite.ts';
import { azureTablesDriver } from '../../shared/drivers/azure-tables.ts';
import { conformance } from './conformance.ts';

const azurite = await startAzurite({ inProcess: true });

conformance('azure-tables on Azurite in process', {
  open: () =>
    azureTablesDriver({
      endpoint: azurite.endpoint,
      tableName: 'conformance',
      credential: new AzureNamedKeyCredential(AZURITE_ACCOUNT_NAME, AZURITE_ACCOUNT_KEY),
      allowInsecureConnection: true,
    }),
  end: () => azurite.close(),
  atomic: true,
  deviations: [
    {
      case: 'a patch whose result would be far too large is refused for its limit and changes nothing',
      reason: 'Azurite does not check the size that a merge results in; the engine keeps account of it',
    },
  ],
});
