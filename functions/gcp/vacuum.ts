// The function `vacuum` on Google Cloud, exported by name like `records`. Cloud Scheduler calls it.
import * as z from 'zod/mini';
import { parsedEnvironment, VACUUM_DEADLINES } from '../instance/config.ts';
import { createVacuumApp } from '../vacuum/vacuum-app.ts';
import { frameworkFunction } from './functions-framework.ts';
import { config, log, usersStore } from './instance.ts';
import { isFromAccount } from './platform.ts';

/** The account of Cloud Scheduler's jobs; without one only an admin's key opens. */
const { STOWAGE_SCHEDULER: account } = parsedEnvironment(
  z.object({ STOWAGE_SCHEDULER: z.optional(z.string()) }),
  process.env,
);

export const vacuum = frameworkFunction(
  createVacuumApp({
    ...config,
    ...VACUUM_DEADLINES,
    log,
    print: (line) => void process.stdout.write(`${line}\n`),
    store: usersStore,
    isScheduler: (request) => account !== undefined && isFromAccount(request, account),
  }),
);
