/** Exit codes of a comparison, beside 2 for a wrong command line. */
export const EXIT = {
  ok: 0,
  /** Runs failed, or none succeeded. */
  failed: 1,
  /** A condition of `--fail-if` was met. */
  conditionMet: 3,
  /** Shells expect this after Ctrl-C. */
  interrupted: 130,
  /** Shells show this for a process that SIGPIPE ended. */
  readerGone: 141,
} as const;

export const EXIT_HELP = `Exit codes: ${EXIT.ok} all is well, ${EXIT.failed} runs failed, 2 the command line is wrong, ${EXIT.conditionMet} a condition of --fail-if was met, ${EXIT.interrupted} Ctrl-C. The report
is written in each case but 2, of what there is by then. A second Ctrl-C ends at once, without it.`;
