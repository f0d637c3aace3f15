// Watches a cloud that runs unattended: prints errors of its functions, and tells when one ends.
import { type RunningCloud, tail } from './local-clouds.ts';

/** As severityOf writes it. JSON would escape these quotes in the text of a caller. */
const ERROR = '"severity":"ERROR"';

/** Prints log lines of errors. Calls `onEnd` with the reason when a process ends. */
export function watch(
  { name: cloud, hosts, ended }: Pick<RunningCloud, 'name' | 'hosts' | 'ended'>,
  print: (line: string) => void,
  onEnd: (why: string) => void,
): void {
  const say = (): void => onEnd(`${cloud}: ${(ended.reason as Error).message}`);
  if (ended.aborted) say();
  ended.addEventListener('abort', say);
  for (const [name, host] of hosts) {
    host.onLine((line) => {
      if (line.includes(ERROR)) print(`${cloud}, ${name}: ${line}`);
    });
    void host.exited.then((code) => {
      onEnd(
        `${cloud}: the process of ${name} has ended with exit code ${code}; its last output:\n${tail(host.output())}`,
      );
    });
  }
}
