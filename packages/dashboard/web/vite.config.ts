// Two builds of one tree: the dashboard, served by its process, and the playground, static files that open
// from any folder.

import path from 'node:path';
import { defineConfig } from 'vite';

const web = import.meta.dirname;

export default defineConfig(({ mode }) => {
  const isPlayground = mode === 'playground';
  return {
    root: isPlayground ? path.join(web, 'playground') : web,
    base: isPlayground ? './' : '/',
    publicDir: path.join(web, 'public'),
    build: {
      outDir: path.join(web, '../dist', isPlayground ? 'playground' : 'web'),
      emptyOutDir: true,
      target: 'es2023',
      manifest: true,
      sourcemap: false,
      rolldownOptions: {
        // The router's files say "use client" for servers that render; ours renders nothing.
        onLog(level, log, handle) {
          if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
        },
      },
    },
    worker: { format: 'es' },
  };
});
