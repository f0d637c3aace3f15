// Prints for all commands. Data and answers may hold anything: characters that end a line, move a
// terminal's cursor or turn the direction of text are escaped here.
import { clearLine, cursorTo } from 'node:readline';

/** Controls of terminals (C0, C1), of the direction of text, and ends of lines. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** One line. Unsafe characters but tabs are written as JSON escapes them: `\u001b`. */
export function printable(line: string): string {
  return line.replace(UNSAFE, (char) =>
    char === '\t' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** As `printable`, for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The key itself; with unsafe characters, or a quote at its beginning, as JSON. */
export function printableKey(key: string): string {
  return key.startsWith('"') || key.search(UNSAFE) !== -1 ? printable(JSON.stringify(key)) : key;
}

const COLUMNS = 80;

/** The terminal that shows a drawn line. */
let drawnOn: NodeJS.WriteStream | undefined;

/** Shows a line at a terminal's bottom until anything is drawn or printed there. */
export function draw(line: string, terminal: NodeJS.WriteStream): void {
  erase();
  // A terminal of unknown width has 0 columns.
  terminal.write(printable(line).slice(0, (terminal.columns || COLUMNS) - 1));
  drawnOn = terminal;
}

/** Erases the drawn line, before something else is printed. */
export function erase(): void {
  if (drawnOn === undefined) return;
  cursorTo(drawnOn, 0);
  clearLine(drawnOn, 0);
  drawnOn = undefined;
}

export function say(line: string): void {
  erase();
  console.log(printable(line));
}

export function sayLines(text: string): void {
  erase();
  console.log(printableLines(text));
}

/** Prints a line about the command. */
export function warn(line: string): void {
  erase();
  console.error(printable(line));
}

/** Prints an error's message. Its further lines are indented: they may be of data. */
export function warnOf(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  erase();
  console.error(printableLines(message).replaceAll('\n', '\n  '));
}
