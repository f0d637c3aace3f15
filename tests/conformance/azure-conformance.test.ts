import { startAzurite, startStrictAzurite } from '../../infra/emulators/azurite.ts';
import { azureAt, TRANSPORTS } from '../drivers/emulated.ts';
import { conformance } from './declare-conformance.ts';

const azurite = await startAzurite({ inProcess: true });

// Over one transport: the strict front hands the same Azurite all that it does not refuse.
conformance('azure-tables (own) on Azurite in process', {
  open: () => azureAt('own', azurite.endpoint, 'conformance'),
  end: () => azurite.close(),
  isAtomic: true,
  deviations: [
    {
      check: 'a patch that makes an entity far too large is refused for its limit',
      reason: 'Azurite does not check the size that a merge results in; the engine keeps account of it',
    },
  ],
});

for (const transport of TRANSPORTS) {
  const strict = await startStrictAzurite();

  conformance(`azure-tables (${transport}) on Azurite behind the strict front`, {
    open: () => azureAt(transport, strict.endpoint, 'conformance'),
    end: () => strict.close(),
    isAtomic: true,
    deviations: [],
  });
}
