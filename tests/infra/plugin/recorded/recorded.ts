// What Terraform 1.11.4 said with the real providers, google 7.45.0 and azurerm 4.81.0, of a stage
// that was deployed to clouds which stored what they were sent; reduced by ./reduce.ts to what the
// plugin reads.
import { readFileSync } from 'node:fs';
import type { Cloud } from '../../../../infra/package/bundle.ts';

interface Recorded {
  /** `terraform show -json` of a deployed stage. */
  readonly state: object;
  /** The same of plans for that stage, by the change in serverless.yml that leads to each. */
  readonly plans: Readonly<Record<string, object>>;
}

export const RECORDED: Readonly<Record<Cloud, Recorded>> = { gcp: read('gcp'), azure: read('azure') };

function read(cloud: Cloud): Recorded {
  return JSON.parse(readFileSync(new URL(`${cloud}.json`, import.meta.url), 'utf8')) as Recorded;
}
