import { defineConfig } from 'vitest/config';

const STORE = 'tests/store/**/*.test.ts';

export default defineConfig({
  test: {
    // Tests start many processes of the same few programs: each compiles its code once.
    env: { NODE_COMPILE_CACHE: `${import.meta.dirname}/node_modules/.cache/node` },
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Many files wait for processes of their own: one more than the processors there are.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'store', include: [STORE] } },
      {
        extends: true,
        test: {
          name: 'all others',
          include: ['tests/**/*.test.ts'],
          exclude: [STORE],
          // Emulators are started once and shared by all files; each case works in a fresh namespace.
          globalSetup: ['tests/support/global-setup.ts'],
        },
      },
    ],
  },
});
