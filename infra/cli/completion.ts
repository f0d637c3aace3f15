// `stowage completion`: a shell function that completes commands, options and the words that an
// option takes, made of what the commands declare.
import { command, type RunnableCommand } from './command-options.ts';

export const SHELLS = ['bash', 'zsh'] as const;

export const COMPLETION = command({
  name: 'stowage completion',
  operands: ['bash|zsh'],
  about: `Prints what completes commands and options in a shell. Load it where the shell starts, as in ~/.bashrc or ~/.zshrc.`,
  options: {},
  examples: ['source <(stowage completion bash)', 'source <(stowage completion zsh)'],
});

/** Alternatives, as in `hash|key`. Other values are files, or names that cannot be known here. */
const ALTERNATIVES = /^[a-z0-9-]+(\|[a-z0-9-]+)+$/;

/** A shell takes the first case that fits. In all others it completes the names of files. */
export function completionOf(
  shell: (typeof SHELLS)[number],
  commands: ReadonlyMap<string, RunnableCommand['declared']>,
): string {
  const cases = [...commands].flatMap(([name, { operands = [], options }]) => {
    const taking = Object.entries(options).flatMap(([option, { value }]) =>
      value === undefined ? [] : [caseOf(`"${name} --${option}"`, wordsOf(value))],
    );
    const flags = [...Object.keys(options), 'help'].map((option) => `--${option}`);
    return [...taking, caseOf(`"${name} "*`, [...operands.flatMap(wordsOf), ...flags])];
  });
  // zsh runs functions of bash after this.
  const first = shell === 'zsh' ? ['autoload -U +X compinit bashcompinit && compinit && bashcompinit'] : [];
  return [
    ...first,
    '_stowage() {',
    `  local words="${[...commands.keys(), '--help', '--version'].join(' ')}"`,
    '  if [ "$COMP_CWORD" -gt 1 ]; then',
    '    case "${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-1]}" in',
    ...cases,
    '      *) words="" ;;',
    '    esac',
    '  fi',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _stowage stowage',
  ].join('\n');
}

function caseOf(pattern: string, words: readonly string[]): string {
  return `      ${pattern}) words="${words.join(' ')}" ;;`;
}

function wordsOf(value: string): string[] {
  return ALTERNATIVES.test(value) ? value.split('|') : [];
}
