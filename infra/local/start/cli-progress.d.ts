// What is used of cli-progress, which ships no types.
declare module 'cli-progress' {
  export class SingleBar {
    constructor(options: Readonly<Record<string, string | number | boolean>>, preset: object);
    start(total: number, startValue: number, payload: Readonly<Record<string, string>>): void;
    update(value: number, payload: Readonly<Record<string, string>>): void;
    stop(): void;
  }
  export const Presets: { readonly shades_classic: object };
}
