// The commands of `stowage` that open a store.
import { DATA_COMMANDS } from './data/commands.ts';
import { PLAIN_COMMANDS } from './data/plain-commands.ts';
import { LOOK_COMMANDS } from './data/look-commands.ts';
import { RECORD_COMMANDS } from './data/record-commands.ts';
import { doctorCommand } from './doctor/command.ts';
import { explainCommand } from './explain.ts';
import type { RunnableCommand } from './command-options.ts';

export const STORE_COMMANDS: Readonly<Record<string, RunnableCommand>> = {
  ...LOOK_COMMANDS,
  ...DATA_COMMANDS,
  ...PLAIN_COMMANDS,
  ...RECORD_COMMANDS,
  explain: explainCommand,
  doctor: doctorCommand,
};
