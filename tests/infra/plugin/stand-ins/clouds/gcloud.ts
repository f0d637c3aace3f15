// gcloud, on the Google Cloud in memory: the commands that the plugin gives, and their answers.
import type { Ended } from '../../../../../infra/plugin/context/tools.ts';
import type { Google } from './google.ts';

const FAILED = Symbol('failed');
type Command = (google: Google, args: readonly string[]) => string | typeof FAILED;

const COMMANDS: Readonly<Record<string, Command>> = {
  'auth list': ({ caller }) => caller,
  'auth application-default print-access-token': () => 'a-token',
  'auth print-identity-token': ({ caller }) => `token-of-${caller}`,
  'config get-value project': () => 'some-project',
  'config get-value account': ({ caller }) => caller,
  'projects describe': () => '123456789',
  'billing projects describe': () => 'True',
  'services list': ({ enabled }) => [...enabled].join('\n'),
  'services enable': ({ enabled }, args) => {
    for (const api of args.slice(2).filter((one) => !one.startsWith('--'))) enabled.add(api);
    return '';
  },
  'secrets versions access': (google, args) => google.secret(option(args, '--secret'), args[3]!) ?? FAILED,
  'firestore databases update': (google, args) =>
    args.includes('--no-delete-protection') && google.unprotect(option(args, '--database')) ? '' : FAILED,
};

/** Runs one call of gcloud. */
export function gcloud(google: Google, args: readonly string[]): Ended {
  const call = args.join(' ');
  const found = Object.entries(COMMANDS).find(([begin]) => call.startsWith(begin));
  const answer = found === undefined ? FAILED : found[1](google, args);
  return answer === FAILED
    ? { code: 1, stdout: '', stderr: `ERROR: (gcloud.${call}) NOT_FOUND` }
    : { code: 0, stdout: `${answer}\n`, stderr: '' };
}

function option(args: readonly string[], name: string): string {
  return args.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
}
