// Deployments by principals that are no people: service accounts, and federated logins of
// workflows.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deploy } from '../../../infra/plugin/commands/deploy.ts';
import { AT_ONCE, failureOf, type Machine, startMachine } from './stand-ins/machine.ts';

const ACCOUNT = 'stowage-ci@some-project.iam.gserviceaccount.com';
const NOW = { isPlanOnly: false, ...AT_ONCE };

let machine: Machine;
beforeEach(async () => {
  machine = await startMachine();
});
afterEach(() => machine.close());

test('a federated login deploys as the account that it impersonates, and calls with that account’s tokens', async () => {
  await machine.tools.answer(
    { to: 'gcloud auth list', stdout: ACCOUNT },
    { to: 'gcloud config get-value account', stdout: ACCOUNT },
    { to: 'gcloud auth print-identity-token --audiences', stderr: 'Invalid account type for `--audiences`.', code: 1 },
  );
  await deploy(machine.contextOf({ cloud: 'gcp' }), NOW);
  expect(await machine.variablesOf('gcp')).toMatchObject({ invokers: [`serviceAccount:${ACCOUNT}`] });
  expect(machine.said.join('\n')).toContain('gcp: healthy');
  const calls = await machine.tools.calls();
  expect(calls.join('\n')).toContain(`print-identity-token --impersonate-service-account=${ACCOUNT} --audiences=http`);
});

test('a federated login without an account is told so before anything is touched', async () => {
  const principal = 'principal://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/subject/s';
  await machine.tools.answer({ to: 'gcloud auth list', stdout: principal });
  const said = await failureOf(deploy(machine.contextOf({ cloud: 'gcp' }), NOW));
  expect(said).toMatch(/Nothing was touched[^]*a service account to act as[^]*infra\/gcp\/ci/);
  expect((await machine.tools.calls()).filter((call) => /terraform gcp (plan|apply)/.test(call))).toEqual([]);
});
