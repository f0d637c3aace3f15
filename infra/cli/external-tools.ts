// gcloud and az of this machine, whose logins the command line uses.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const TOOL_TIMEOUT_MS = 120_000;

/** Runs a tool of a cloud and gives what it prints. */
export type AskTool = (tool: 'gcloud' | 'az', args: readonly string[]) => Promise<string>;

/** Rejects with what the tool says went wrong. */
export const askTool: AskTool = async (tool, args) => {
  try {
    const { stdout } = await promisify(execFile)(tool, [...args], { timeout: TOOL_TIMEOUT_MS });
    return stdout.trim();
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim() ?? '';
    throw new Error(`${tool} ${args.slice(0, 3).join(' ')} failed: ${said === '' ? String(error) : said}`, {
      cause: error,
    });
  }
};
